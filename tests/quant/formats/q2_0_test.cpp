#include <array>
#include <lazymoe/quant/formats/q2_0.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q2_0>(2048) == 576);

TEST_CASE("Q2_0 keeps four neighbours in a byte, centred at one", "[quant][q2_0]") {
  Q2_0::Block block{.d = {0x3800}, .q = {}};  // d = 0.5
  block.q[15] = 0b11'10'01'00;
  const auto w = decoded<Q2_0>(block);
  CHECK(w[60] == 0.5F * -1);
  CHECK(w[61] == 0);
  CHECK(w[62] == 0.5F);
  CHECK(w[63] == 0.5F * 2);
}
