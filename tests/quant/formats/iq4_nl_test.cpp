#include <array>
#include <cstddef>
#include <lazymoe/quant/formats/iq4_nl.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<IQ4_NL>(2048) == 1152);

TEST_CASE("IQ4_NL keeps weights 0-15 in low, 16-31 in high nibbles", "[quant][iq4_nl]") {
  IQ4_NL::Block block{.d = {0x4000}, .q = {}};  // d = 2
  block.q[3] = 0xA1;
  const auto w = decoded<IQ4_NL>(block);
  CHECK(w[3] == 2.0F * -104);
  CHECK(w[19] == 2.0F * 25);
  CHECK(w[0] == 2.0F * -127);
}
