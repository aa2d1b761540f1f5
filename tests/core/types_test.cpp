#include <lazymoe/core/types.hpp>

#include "support/catch.hpp"

namespace lazymoe {

using namespace literals;
static_assert(1_KiB == 1024 && 1_MiB == 1024 * 1024 && 6_GiB == Bytes{6} << 30);
static_assert(KeySpace{.layers = 94, .experts = 128}.size() == 12032);

TEST_CASE("a key space numbers every expert of every layer once, layer by layer", "[core]") {
  constexpr KeySpace space{.layers = 3, .experts = 5};
  std::size_t expected = 0;
  for (LayerIndex layer = 0; layer < space.layers; ++layer)
    for (ExpertIndex expert = 0; expert < space.experts; ++expert) {
      const ExpertKey key = space.key(layer, expert);
      CHECK(index(key) == expected++);
      CHECK(space.layer(key) == layer);
      CHECK(space.expert(key) == expert);
    }
  CHECK(expected == space.size());
}

}  // namespace lazymoe
