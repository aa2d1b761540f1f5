#include <lazymoe/quant/formats/iq2_s.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ2_S>(2048) == 656);

TEST_CASE("IQ2_S takes the high bits of an index from a byte of four, and every sign as it is", "[quant][iq2_s]") {
  IQ2_S::Block block{};
  block.d = {0x4400};  // 4
  block.index_low[31] = 0xFF;
  block.index_high[7] = 0b11'00'00'00;
  block.signs[31] = 0x01;
  block.scales[7] = 0xA1;
  CHECK(IQ2_S::index(block, 31) == 1023);
  CHECK(IQ2_S::index(block, 30) == 0);
  const auto w = decoded<IQ2_S>(block);
  CHECK(w[224] == 1.5F * 8);
  CHECK(w[248] == -10.5F * static_cast<float>(grid_value(iq2_s_grid[1023], 0)));
  CHECK(w[255] == 10.5F * static_cast<float>(grid_value(iq2_s_grid[1023], 7)));
}
