#include <lazymoe/cache/lru.hpp>

#include "eviction_laws.hpp"
#include "list_model.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("Lru obeys the laws of an eviction policy", "[cache][lru]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::Lru>(seed, 2000);
}

TEST_CASE("Lru chooses as a list of uses does", "[cache][lru]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  test::check_same_victims(cache::Lru(space), test::ListModel{.moves_on_hit = true}, space, 10, seed, 2000);
}

TEST_CASE("Lru takes the one whose last use lies furthest back", "[cache][lru]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  cache::Lru lru(space);
  for (std::uint32_t e = 0; e < 3; ++e) lru.on_insert(space.key(0, e));
  lru.on_hit(space.key(0, 0));

  CHECK(lru.victim([](ExpertKey) { return true; }) == space.key(0, 1));
  SECTION("a pinned expert is passed over") {
    CHECK(lru.victim([&](ExpertKey k) { return k != space.key(0, 1); }) == space.key(0, 2));
  }
  SECTION("an expert that left comes back as the newest") {
    lru.on_erase(space.key(0, 1));
    lru.on_insert(space.key(0, 1));
    CHECK(lru.victim([](ExpertKey) { return true; }) == space.key(0, 2));
  }
}

}  // namespace lazymoe
