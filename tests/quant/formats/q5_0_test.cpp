#include <array>
#include <cstddef>
#include <lazymoe/quant/formats/q5_0.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<Q5_0>(2048) == 1408);

TEST_CASE("Q5_0 keeps weights 0-15 in low, 16-31 in high nibbles", "[quant][q5_0]") {
  Q5_0::Block block{.d = {0x4000}, .high = {}, .low = {}};  // d = 2
  block.low[3] = 0xA1;
  const auto w = decoded<Q5_0>(block);
  CHECK(w[3] == 2.0F * (1 - 16));
  CHECK(w[19] == 2.0F * (10 - 16));
  CHECK(w[0] == 2.0F * -16);
}

TEST_CASE("Q5_0 takes the fifth bit of weight i from bit i of four bytes", "[quant][q5_0]") {
  Q5_0::Block block{.d = {0x4000}, .high = {}, .low = {}};
  block.high = {0x08, 0, 0x08, 0x80};  // weights 3, 19 and 31
  const auto w = decoded<Q5_0>(block);
  for (std::size_t i = 0; i < w.size(); ++i) {
    CAPTURE(i);
    CHECK(w[i] == (i == 3 || i == 19 || i == 31 ? 0.0F : -32.0F));
  }
}
