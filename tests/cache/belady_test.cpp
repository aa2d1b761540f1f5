#include <lazymoe/cache/belady.hpp>

#include <array>

#include "support/catch.hpp"

namespace lazymoe::cache {

TEST_CASE("Belady takes the one that is needed again last, or never", "[cache][belady]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  const auto any = [](ExpertKey) { return true; };
  const std::array uses{space.key(0, 0), space.key(0, 1), space.key(0, 2), space.key(0, 1), space.key(0, 0)};
  Belady belady(space, uses);
  CHECK_FALSE(belady.victim(any).has_value());
  belady.on_insert(space.key(0, 0));  // again at 4
  belady.on_insert(space.key(0, 1));  // again at 3
  CHECK(belady.victim(any) == space.key(0, 0));
  CHECK(belady.victim([&](ExpertKey k) { return k != space.key(0, 0); }) == space.key(0, 1));
  belady.on_insert(space.key(0, 2));
  CHECK(belady.victim(any) == space.key(0, 2));  // never again
  belady.on_erase(space.key(0, 2));
  belady.on_hit(space.key(0, 1));
  CHECK(belady.victim(any) == space.key(0, 1));
}

}  // namespace lazymoe::cache
