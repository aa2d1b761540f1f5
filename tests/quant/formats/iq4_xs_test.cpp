#include <array>
#include <lazymoe/quant/formats/iq4_xs.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ4_XS>(2048) == 1088);

TEST_CASE("IQ4_XS puts a scale together from a nibble and two bits", "[quant][iq4_xs]") {
  IQ4_XS::Block block{};
  CHECK(IQ4_XS::group_scale(block, 0) == -32);
  block.scales_low[3] = 0xA1;            // low bits of groups 6 and 7
  block.scales_high[1] = 0b11'01'00'00;  // high bits of groups 7, 6, 5, 4
  CHECK(IQ4_XS::group_scale(block, 6) == 1 + 16 - 32);
  CHECK(IQ4_XS::group_scale(block, 7) == 10 + 48 - 32);
}

TEST_CASE("IQ4_XS keeps the first 16 weights of a group in low, the others in high nibbles", "[quant][iq4_xs]") {
  IQ4_XS::Block block{};
  block.d = {0x3C00};
  block.q[16 * 7 + 15] = 0xF8;
  const auto w = decoded<IQ4_XS>(block);
  CHECK(w[32 * 7 + 15] == -32.0F * 1);
  CHECK(w[255] == -32.0F * 113);
  CHECK(w[0] == -32.0F * -127);
}
