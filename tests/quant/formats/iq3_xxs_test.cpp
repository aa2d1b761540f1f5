#include <lazymoe/quant/formats/iq3_xxs.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ3_XXS>(2048) == 784);

TEST_CASE("IQ3_XXS has two entries of 4 weights for 7 signs", "[quant][iq3_xxs]") {
  IQ3_XXS::Block block{};
  block.d = {0x4000};                               // 2
  block.index[63] = 1;                              // entry 0: all 4; entry 1: 20, then 4
  block.signs_scale[7] = {0x00, 0x00, 0x00, 0x32};  // bit 25: the fifth sign of the last 8; scale 3
  const auto w = decoded<IQ3_XXS>(block);
  CHECK(w[251] == 3.5F * 4);
  CHECK(w[252] == -3.5F * 20);
  CHECK(w[253] == 3.5F * 4);
  CHECK(w[255] == -3.5F * 4);  // so that the number of signs is even
  CHECK(w[0] == 0.5F * 4);
}
