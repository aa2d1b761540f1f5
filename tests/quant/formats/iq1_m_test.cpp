#include <lazymoe/quant/formats/iq1_m.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ1_M>(2048) == 448);

TEST_CASE("IQ1_M keeps its scale on top of the scales of its groups", "[quant][iq1_m]") {
  IQ1_M::Block block{};
  block.scales = {{{0x00, 0x40}, {0x00, 0x30}, {0x00, 0x20}, {0x00, 0x16}}};  // d = 0x1234; scale 3 of group 15
  CHECK(IQ1_M::scale(block).bits == 0x1234);
  CHECK(IQ1_M::group_scale(block, 14) == 0);
  CHECK(IQ1_M::group_scale(block, 15) == 3);
}

TEST_CASE("IQ1_M shifts every 8 weights by an eighth", "[quant][iq1_m]") {
  IQ1_M::Block block{};
  block.scales[3] = {0x00, 0x36};  // scale 3 of group 15
  block.scales[2] = {0x00, 0xC0};  // d = 1
  block.index_low[31] = 0xFF;      // with the high bits: entry 2047, all 1; entry 0 is all -1
  block.high[15] = 0xF0;
  const auto w = decoded<IQ1_M>(block);
  CHECK(w[0] == -1.0F + 0.125F);
  CHECK(w[247] == 7.0F * (-1.0F + 0.125F));
  CHECK(w[255] == 7.0F * (1.0F - 0.125F));
}
