#include <lazymoe/quant/formats/iq2_xxs.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ2_XXS>(2048) == 528);

TEST_CASE("IQ2_XXS takes 28 signs and a scale from one word of a group", "[quant][iq2_xxs]") {
  IQ2_XXS::Block block{};
  block.d = {0x4400};                                     // 4
  block.group[7].index = {0, 0, 0, 1};                    // entry 0: all 8; entry 1: 43, then 8
  block.group[7].signs_scale = {0x00, 0x00, 0x20, 0x30};  // bit 21: the first sign of entry 3; scale 3
  const auto w = decoded<IQ2_XXS>(block);
  CHECK(w[32 * 7 + 23] == 3.5F * 8);
  CHECK(w[32 * 7 + 24] == -3.5F * 43);
  CHECK(w[32 * 7 + 25] == 3.5F * 8);
  CHECK(w[255] == -3.5F * 8);  // so that the number of signs is even
  CHECK(w[0] == 0.5F * 8);
}
