#include <lazymoe/cache/fifo.hpp>

#include "eviction_laws.hpp"
#include "list_model.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("Fifo obeys the laws of an eviction policy", "[cache][fifo]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::Fifo>(seed, 2000);
}

TEST_CASE("Fifo chooses as a list of arrivals does", "[cache][fifo]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  test::check_same_victims(cache::Fifo(space), test::ListModel{.moves_on_hit = false}, space, 10, seed, 2000);
}

TEST_CASE("Fifo takes the oldest, used or not", "[cache][fifo]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  cache::Fifo fifo(space);
  for (std::uint32_t e = 0; e < 3; ++e) fifo.on_insert(space.key(0, e));
  fifo.on_hit(space.key(0, 0));

  CHECK(fifo.victim([](ExpertKey) { return true; }) == space.key(0, 0));
  SECTION("a pinned expert is passed over") {
    CHECK(fifo.victim([&](ExpertKey k) { return k != space.key(0, 0); }) == space.key(0, 1));
  }
}

}  // namespace lazymoe
