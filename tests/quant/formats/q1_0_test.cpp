#include <array>
#include <lazymoe/quant/formats/q1_0.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q1_0>(2048) == 288);

TEST_CASE("Q1_0 has a sign per bit, the least significant first", "[quant][q1_0]") {
  Q1_0::Block block{.d = {0x3800}, .q = {}};  // d = 0.5
  block.q[1] = 0x81;
  const auto w = decoded<Q1_0>(block);
  CHECK(w[7] == -0.5F);
  CHECK(w[8] == 0.5F);
  CHECK(w[9] == -0.5F);
  CHECK(w[15] == 0.5F);
  CHECK(w[127] == -0.5F);
}
