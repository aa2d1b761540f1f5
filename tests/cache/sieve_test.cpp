#include <lazymoe/cache/sieve.hpp>

#include <algorithm>
#include <vector>

#include "eviction_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {
namespace {

/// SIEVE as one would write it on a blackboard: an array, oldest first, and the index of the hand.
struct ArrayModel {
  struct Entry {
    ExpertKey key;
    bool visited;
  };
  std::vector<Entry> entries = {};
  std::size_t hand = 0;

  auto find(ExpertKey key) { return std::ranges::find(entries, key, &Entry::key); }
  void on_insert(ExpertKey key) {
    // A hand that has passed the newest begins anew at the oldest, not at the newcomer.
    if (hand == entries.size()) hand = 0;
    entries.push_back({key, false});
  }
  void on_hit(ExpertKey key) { find(key)->visited = true; }
  void on_erase(ExpertKey key) {
    const auto at = find(key);
    if (at - entries.begin() < static_cast<std::ptrdiff_t>(hand)) --hand;
    entries.erase(at);
  }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) {
    if (std::ranges::none_of(entries, evictable, &Entry::key)) return std::nullopt;
    for (;; ++hand) {
      if (hand >= entries.size()) hand = 0;
      Entry& entry = entries[hand];
      if (!evictable(entry.key)) continue;
      if (!entry.visited) return entry.key;
      entry.visited = false;
    }
  }
};

}  // namespace

TEST_CASE("Sieve obeys the laws of an eviction policy", "[cache][sieve]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::Sieve>(seed, 2000);
}

TEST_CASE("Sieve chooses as a hand over an array does", "[cache][sieve]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  test::check_same_victims(cache::Sieve(space), ArrayModel{}, space, 10, seed, 2000);
}

TEST_CASE("Sieve spares what was hit and takes the oldest of the rest", "[cache][sieve]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  const auto any = [](ExpertKey) { return true; };
  cache::Sieve sieve(space);
  for (std::uint32_t e = 0; e < 3; ++e) sieve.on_insert(space.key(0, e));
  sieve.on_hit(space.key(0, 0));

  CHECK(sieve.victim(any) == space.key(0, 1));

  SECTION("a pinned expert is passed over") {
    CHECK(sieve.victim([&](ExpertKey k) { return k != space.key(0, 1); }) == space.key(0, 2));
  }
  SECTION("nothing evictable, no victim") {
    CHECK_FALSE(sieve.victim([](ExpertKey) { return false; }).has_value());
  }
  SECTION("the hand goes on from where it stopped") {
    sieve.on_erase(space.key(0, 1));
    sieve.on_insert(space.key(0, 3));
    CHECK(sieve.victim(any) == space.key(0, 2));  // not 0, though its mark is gone
  }
}

}  // namespace lazymoe
