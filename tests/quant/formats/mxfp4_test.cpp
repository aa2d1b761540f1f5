#include <array>
#include <lazymoe/quant/formats/mxfp4.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<MXFP4>(2048) == 1088);

TEST_CASE("MXFP4 keeps weights 0-15 in low, 16-31 in high nibbles", "[quant][mxfp4]") {
  MXFP4::Block block{.e = {129}, .q = {}};  // 2^(129 - 127), halved: 2
  block.q[3] = 0xA1;
  const auto w = decoded<MXFP4>(block);
  CHECK(w[3] == 2.0F * 1);
  CHECK(w[19] == 2.0F * -2);
  CHECK(w[0] == 0.0F);
}

TEST_CASE("MXFP4 decodes its smallest scales to subnormal floats", "[quant][mxfp4]") {
  MXFP4::Block block{.e = {0}, .q = {}};
  block.q[0] = 0xF7;
  const auto w = decoded<MXFP4>(block);
  CHECK(w[0] == 12 * 0x1p-128F);
  CHECK(w[16] == -12 * 0x1p-128F);
}
