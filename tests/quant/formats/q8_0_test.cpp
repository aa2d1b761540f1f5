#include <array>
#include <cstddef>
#include <lazymoe/quant/formats/q8_0.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q8_0>(2048) == 2176);

TEST_CASE("Q8_0 scales signed bytes in order", "[quant][q8_0]") {
  Q8_0::Block block{.d = {0xB800}, .q = {}};  // d = -0.5
  block.q[0] = -128;
  block.q[31] = 127;
  const auto w = decoded<Q8_0>(block);
  CHECK(w[0] == -0.5F * -128);
  CHECK(w[1] == 0);
  CHECK(w[31] == -0.5F * 127);
}
