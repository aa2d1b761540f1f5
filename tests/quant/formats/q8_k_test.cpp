#include <array>
#include <lazymoe/quant/formats/q8_k.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

TEST_CASE("Q8_K scales signed bytes by a float and ignores the sums", "[quant][q8_k]") {
  Q8_K::Block block{.d = -0x1p-100F, .q = {}, .sums = {}};
  block.q[255] = 127;
  block.sums[15] = 127;
  const auto w = decoded<Q8_K>(block);
  CHECK(w[255] == -127 * 0x1p-100F);
  CHECK(w[254] == 0);
}
