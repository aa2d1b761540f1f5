#include <lazymoe/quant/formats/iq1_s.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ1_S>(2048) == 400);

TEST_CASE("IQ1_S shifts a whole group by an eighth", "[quant][iq1_s]") {
  IQ1_S::Block block{};
  block.d = {0x3C00};            // 1
  block.index_low[31] = 0xFF;    // with the high bits: entry 2047, all 1; entry 0 is all -1
  block.high[7] = {0x00, 0xBE};  // shift down; scale 3; high bits 7 of the last index
  const auto w = decoded<IQ1_S>(block);
  CHECK(w[0] == -1.0F + 0.125F);
  CHECK(w[247] == 7.0F * (-1.0F - 0.125F));
  CHECK(w[255] == 7.0F * (1.0F - 0.125F));
}
