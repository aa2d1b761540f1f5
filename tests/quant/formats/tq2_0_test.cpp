#include <array>
#include <lazymoe/quant/formats/tq2_0.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<TQ2_0>(2048) == 528);

TEST_CASE("TQ2_0 keeps four weights 32 apart in a byte, centred at one", "[quant][tq2_0]") {
  TQ2_0::Block block{.q = {}, .d = {0x3800}};  // d = 0.5
  block.q[32 + 5] = 0b11'10'01'00;
  const auto w = decoded<TQ2_0>(block);
  CHECK(w[128 + 5] == 0.5F * -1);
  CHECK(w[128 + 32 + 5] == 0);
  CHECK(w[128 + 64 + 5] == 0.5F);
  CHECK(w[128 + 96 + 5] == 0.5F * 2);
}
