#include <array>
#include <lazymoe/quant/formats/q6_k.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q6_K>(2048) == 1680);

TEST_CASE("Q6_K joins a nibble and two bits, run by run", "[quant][q6_k]") {
  Q6_K::Block block{};
  block.d = {0x3C00};
  block.scales.fill(1);
  block.scales[15] = -128;
  block.low[64 + 32 + 31] = 0xA1;       // weights 31 of runs 1 (low) and 3 (high nibble) of the upper half
  block.high[32 + 31] = 0b11'00'10'00;  // weights 31 of its runs 3, 2, 1, 0
  const auto w = decoded<Q6_K>(block);
  CHECK(w[128 + 31] == -32);
  CHECK(w[128 + 32 + 31] == 1 + 32 - 32);
  CHECK(w[128 + 64 + 31] == -32);
  CHECK(w[255] == -128.0F * (10 + 48 - 32));
}
