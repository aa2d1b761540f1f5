#include <lazymoe/quant/formats/iq2_xs.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ2_XS>(2048) == 592);

TEST_CASE("IQ2_XS keeps 9 bits of index below 7 signs, and a scale for 16 weights", "[quant][iq2_xs]") {
  IQ2_XS::Block block{};
  block.d = {0x4400};                    // 4
  block.index_signs[31] = {0xFF, 0x03};  // entry 511, sign of its first weight
  block.scales[7] = 0xA1;
  const auto w = decoded<IQ2_XS>(block);
  CHECK(w[224] == 1.5F * 8);
  CHECK(w[248] == -10.5F * 43);
  CHECK(w[249] == 10.5F * 43);
  CHECK(w[255] == -10.5F * 43);  // so that the number of signs is even
}
