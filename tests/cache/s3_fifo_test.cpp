#include <lazymoe/cache/s3_fifo.hpp>

#include <algorithm>
#include <deque>
#include <map>

#include "eviction_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {
namespace {

/// S3-FIFO as one would write it on a blackboard: three queues, oldest first, and a count for each resident.
struct QueuesModel {
  std::deque<ExpertKey> small = {}, main = {}, ghosts = {};
  std::map<ExpertKey, int> hits = {};

  static bool remove(std::deque<ExpertKey>& queue, ExpertKey key) { return std::erase(queue, key) != 0; }

  void on_insert(ExpertKey key) {
    hits[key] = 0;
    (remove(ghosts, key) ? main : small).push_back(key);
  }
  void on_hit(ExpertKey key) { hits[key] = std::min(hits[key] + 1, 3); }
  void on_erase(ExpertKey key) {
    const auto residents = small.size() + main.size();
    if (remove(main, key)) return;
    remove(small, key);
    ghosts.push_back(key);
    while (ghosts.size() > residents - residents / 10) ghosts.pop_front();
  }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) {
    for (;;) {
      const auto young = std::ranges::find_if(small, evictable);
      const auto old = std::ranges::find_if(main, evictable);
      if (young == small.end() && old == main.end()) return std::nullopt;
      const bool from_small =
          old == main.end() || (young != small.end() && 10 * small.size() >= small.size() + main.size());
      const ExpertKey key = from_small ? *young : *old;
      if (from_small && hits[key] <= 1) return key;
      if (!from_small && hits[key] == 0) return key;
      hits[key] = from_small ? 0 : hits[key] - 1;
      remove(small, key);
      remove(main, key);
      main.push_back(key);
    }
  }
};

}  // namespace

TEST_CASE("S3Fifo obeys the laws of an eviction policy", "[cache][s3_fifo]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::S3Fifo>(seed, 2000);
}

TEST_CASE("S3Fifo chooses as three queues do", "[cache][s3_fifo]") {
  constexpr KeySpace space{.layers = 8, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  const std::size_t slots = GENERATE(10U, 31U);
  CAPTURE(seed, slots);
  test::check_same_victims(cache::S3Fifo(space), QueuesModel{}, space, slots, seed, 4000);
}

TEST_CASE("S3Fifo lets newcomers go first and takes ghosts back into the main queue", "[cache][s3_fifo]") {
  constexpr KeySpace space{.layers = 1, .experts = 8};
  const auto any = [](ExpertKey) { return true; };
  const auto evict = [&](cache::S3Fifo& policy) {
    const auto key = policy.victim(any).value();
    policy.on_erase(key);
    return key;
  };
  cache::S3Fifo policy(space);
  for (std::uint32_t e = 0; e < 4; ++e) policy.on_insert(space.key(0, e));
  policy.on_hit(space.key(0, 0));  // once: not enough
  policy.on_hit(space.key(0, 1));
  policy.on_hit(space.key(0, 1));

  CHECK(evict(policy) == space.key(0, 0));
  policy.on_insert(space.key(0, 4));
  CHECK(evict(policy) == space.key(0, 2));  // 1 has gone on to the main queue
  policy.on_insert(space.key(0, 0));        // a ghost
  CHECK(evict(policy) == space.key(0, 3));
  CHECK(evict(policy) == space.key(0, 4));
  CHECK(evict(policy) == space.key(0, 1));  // nobody is young: the main queue, oldest first
  CHECK(evict(policy) == space.key(0, 0));
  CHECK_FALSE(policy.victim(any).has_value());
}

}  // namespace lazymoe
