#include <array>
#include <cstddef>
#include <lazymoe/quant/formats/q4_1.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q4_1>(2048) == 1280);

TEST_CASE("Q4_1 keeps weights 0-15 in low, 16-31 in high nibbles", "[quant][q4_1]") {
  Q4_1::Block block{.d = {0x4000}, .m = {0xBC00}, .q = {}};  // d = 2, m = -1
  block.q[3] = 0xA1;
  const auto w = decoded<Q4_1>(block);
  CHECK(w[3] == 2.0F * 1 - 1);
  CHECK(w[19] == 2.0F * 10 - 1);
  CHECK(w[0] == -1.0F);
}
