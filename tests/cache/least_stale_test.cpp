#include <lazymoe/cache/least_stale.hpp>

#include <map>
#include <tuple>

#include "eviction_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {
namespace {

/// Least-stale as one would write it on a blackboard: all residents compared by pass, layer and time.
struct PassesModel {
  KeySpace space;
  struct Use {
    std::uint64_t pass;
    std::uint64_t time;
  };
  std::map<ExpertKey, Use> residents = {};
  std::uint64_t pass = 0, time = 0;
  LayerIndex layer = 0;

  void on_insert(ExpertKey key) {
    if (space.layer(key) < layer) ++pass;
    layer = space.layer(key);
    residents[key] = {pass, ++time};
  }
  void on_hit(ExpertKey key) { on_insert(key); }
  void on_erase(ExpertKey key) { residents.erase(key); }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) {
    const auto rank = [&](ExpertKey key) {
      const Use& use = residents.at(key);
      const LayerIndex at = space.layer(key);
      const LayerIndex ahead = at > layer ? at - layer : at + space.layers - layer;  // 1 to layers
      return std::tuple(use.pass != pass, ahead, ~use.time);
    };
    std::optional<ExpertKey> best;
    for (const auto& [key, use] : residents) {
      if (evictable(key) && (!best || rank(key) > rank(*best))) best = key;
    }
    return best;
  }
};

}  // namespace

TEST_CASE("LeastStale obeys the laws of an eviction policy", "[cache][least_stale]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::LeastStale>(seed, 2000);
}

TEST_CASE("LeastStale chooses as a search of all residents does", "[cache][least_stale]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  test::check_same_victims(cache::LeastStale(space), PassesModel{space}, space, 10, seed, 2000);
}

TEST_CASE("LeastStale spares what this pass used and takes from the layer just passed", "[cache][least_stale]") {
  constexpr KeySpace space{.layers = 3, .experts = 4};
  const auto any = [](ExpertKey) { return true; };
  cache::LeastStale policy(space);
  for (LayerIndex layer = 0; layer < 3; ++layer) {
    policy.on_insert(space.key(layer, 0));
    policy.on_insert(space.key(layer, 1));
  }
  policy.on_hit(space.key(0, 0));  // the second pass
  CHECK(policy.victim(any) == space.key(0, 1));
  policy.on_hit(space.key(1, 1));
  CHECK(policy.victim(any) == space.key(1, 0));

  SECTION("then from the layers passed before it") {
    policy.on_erase(space.key(1, 0));
    CHECK(policy.victim(any) == space.key(0, 1));
    policy.on_erase(space.key(0, 1));
    CHECK(policy.victim(any) == space.key(2, 0));
  }
  SECTION("and of this pass when there is no other") {
    for (const auto key : {space.key(1, 0), space.key(0, 1), space.key(2, 0), space.key(2, 1)}) policy.on_erase(key);
    CHECK(policy.victim(any) == space.key(1, 1));
  }
}

}  // namespace lazymoe
