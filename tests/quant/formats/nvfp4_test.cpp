#include <array>
#include <lazymoe/quant/formats/nvfp4.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<NVFP4>(2048) == 1152);

TEST_CASE("NVFP4 keeps weights 8 apart in a byte, and a scale for 16", "[quant][nvfp4]") {
  NVFP4::Block block{.scales = {}, .q = {}};
  block.scales[2] = {0x44};  // 1.5 * 2, halved: 1.5
  block.q[16 + 3] = 0xA1;
  block.q[24 + 3] = 0xA1;
  const auto w = decoded<NVFP4>(block);
  CHECK(w[32 + 3] == 1.5F * 1);
  CHECK(w[32 + 11] == 1.5F * -2);
  CHECK(w[32 + 4] == 0);
  CHECK(w[48 + 3] == 0);
}
