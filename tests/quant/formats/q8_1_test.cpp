#include <array>
#include <lazymoe/quant/formats/q8_1.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

TEST_CASE("Q8_1 is Q8_0 beside a sum that decoding ignores", "[quant][q8_1]") {
  Q8_1::Block block{.d = {0x3800}, .s = {0x4400}, .q = {}};  // d = 0.5
  block.q[5] = 8;
  const auto w = decoded<Q8_1>(block);
  CHECK(w[5] == 4);
  CHECK(w[6] == 0);
}
