#include <array>
#include <lazymoe/quant/formats/q2_k.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q2_K>(2048) == 672);

TEST_CASE("Q2_K packs scale and minimum of a group in one byte, four runs of weights in another", "[quant][q2_k]") {
  Q2_K::Block block{.scales = {}, .q = {}, .d = {0x3C00}, .dmin = {0x3800}};  // d = 1, dmin = 0.5
  block.scales.fill(0x32);                                                    // scale 2, minimum 3
  block.scales[15] = 0x0F;
  block.q[32 + 31] = 0b11'10'01'00;  // weights 31 of the four runs of the upper half
  const auto w = decoded<Q2_K>(block);
  CHECK(w[0] == -1.5F);
  CHECK(w[128 + 31] == -1.5F);
  CHECK(w[128 + 32 + 31] == 2 - 1.5F);
  CHECK(w[128 + 64 + 31] == 4 - 1.5F);
  CHECK(w[255] == 15 * 3.0F);
}
