#include <lazymoe/cache/detail/aged_counters.hpp>

#include "support/catch.hpp"

namespace lazymoe::cache::detail {

TEST_CASE("Aged counters are halved every window", "[cache]") {
  constexpr KeySpace space{.layers = 1, .experts = 3};
  AgedCounters uses(space, 8);
  for (int i = 0; i < 7; ++i) uses.use(space.key(0, 0));
  CHECK(uses[space.key(0, 0)] == 7);
  uses.use(space.key(0, 1));
  CHECK(uses[space.key(0, 0)] == 3);
  CHECK(uses[space.key(0, 1)] == 0);
  for (int i = 0; i < 8; ++i) uses.use(space.key(0, 2));
  CHECK(uses[space.key(0, 0)] == 1);
  CHECK(uses[space.key(0, 2)] == 4);
}

TEST_CASE("The default window grows with the number of keys", "[cache]") {
  constexpr KeySpace space{.layers = 1, .experts = 2};
  AgedCounters uses(space);
  for (int i = 0; i < 15; ++i) uses.use(space.key(0, 0));
  CHECK(uses[space.key(0, 0)] == 15);
  uses.use(space.key(0, 0));
  CHECK(uses[space.key(0, 0)] == 8);
}

}  // namespace lazymoe::cache::detail
