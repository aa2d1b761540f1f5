#include <array>
#include <lazymoe/quant/formats/q3_k.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q3_K>(2048) == 880);

TEST_CASE("Q3_K puts a scale together from a nibble and two bits", "[quant][q3_k]") {
  Q3_K::Block block{};
  CHECK(Q3_K::group_scale(block, 0) == -32);
  block.scales[7] = 0xA1;            // low bits of groups 7 and 15
  block.scales[11] = 0b11'00'01'00;  // high bits of groups 15, 11, 7, 3
  CHECK(Q3_K::group_scale(block, 7) == 1 + 16 - 32);
  CHECK(Q3_K::group_scale(block, 15) == 10 + 48 - 32);
  CHECK(Q3_K::group_scale(block, 3) == -32);
}

TEST_CASE("Q3_K takes the third bit of weight 32r + l from bit r of byte l", "[quant][q3_k]") {
  Q3_K::Block block{};
  block.d = {0x3C00};
  block.high[2] = 0b1000'0001;        // weights 2 and 226
  block.low[32 + 2] = 0b01'00'00'00;  // weight 226
  const auto w = decoded<Q3_K>(block);
  CHECK(w[2] == -32.0F * (4 - 4));
  CHECK(w[226] == -32.0F * (4 + 1 - 4));
  CHECK(w[34] == -32.0F * -4);
}
