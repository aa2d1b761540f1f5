#include <array>
#include <cstddef>
#include <lazymoe/quant/formats/q4_0.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q4_0>(2048) == 1152);

TEST_CASE("Q4_0 keeps weights 0-15 in low, 16-31 in high nibbles", "[quant][q4_0]") {
  Q4_0::Block block{.d = {0x4000}, .q = {}};  // d = 2
  block.q[3] = 0xA1;
  const auto w = decoded<Q4_0>(block);
  CHECK(w[3] == 2.0F * (1 - 8));
  CHECK(w[19] == 2.0F * (10 - 8));
  CHECK(w[0] == 2.0F * -8);
}
