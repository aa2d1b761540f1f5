#include <lazymoe/cache/lfu.hpp>

#include "count_model.hpp"
#include "eviction_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("Lfu obeys the laws of an eviction policy", "[cache][lfu]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::Lfu>(seed, 2000);
}

TEST_CASE("Lfu chooses as a search of all counts does", "[cache][lfu]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  test::check_same_victims(cache::Lfu(space), test::CountModel{.ghosts = false}, space, 10, seed, 2000);
}

TEST_CASE("Lfu takes the least used, of equals the least recently used", "[cache][lfu]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  const auto any = [](ExpertKey) { return true; };
  cache::Lfu lfu(space);
  for (std::uint32_t e = 0; e < 3; ++e) lfu.on_insert(space.key(0, e));  // uses 1 1 1
  lfu.on_hit(space.key(0, 0));                                           // uses 2 1 1

  CHECK(lfu.victim(any) == space.key(0, 1));
  CHECK(lfu.victim([&](ExpertKey k) { return k != space.key(0, 1); }) == space.key(0, 2));

  SECTION("uses before an eviction are forgotten") {
    lfu.on_hit(space.key(0, 1));
    lfu.on_hit(space.key(0, 2));
    lfu.on_erase(space.key(0, 1));
    lfu.on_insert(space.key(0, 1));  // uses 2 1 2
    CHECK(lfu.victim(any) == space.key(0, 1));
  }
}

}  // namespace lazymoe
