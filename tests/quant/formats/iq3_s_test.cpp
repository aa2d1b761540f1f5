#include <lazymoe/quant/formats/iq3_s.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ3_S>(2048) == 880);

TEST_CASE("IQ3_S takes the ninth bit of an index from a byte of eight, and every sign as it is", "[quant][iq3_s]") {
  IQ3_S::Block block{};
  block.d = {0x3C00};  // 1
  block.index_low[63] = 0xFF;
  block.index_high[7] = 0x80;
  block.signs[31] = 0x90;
  block.scales[3] = 0xA1;
  CHECK(IQ3_S::index(block, 63) == 511);
  CHECK(IQ3_S::index(block, 62) == 0);
  const auto w = decoded<IQ3_S>(block);
  CHECK(w[192] == 3.0F);
  CHECK(w[251] == 21.0F);
  CHECK(w[252] == -21.0F * static_cast<float>(grid_value(iq3_s_grid[511], 0)));
  CHECK(w[253] == 21.0F * static_cast<float>(grid_value(iq3_s_grid[511], 1)));
  CHECK(w[255] == -21.0F * static_cast<float>(grid_value(iq3_s_grid[511], 3)));
}
