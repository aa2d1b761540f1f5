#include <array>
#include <lazymoe/quant/encode/simple.hpp>

#include "support/catch.hpp"

using namespace lazymoe::quant;

TEST_CASE("Q8_0 and Q4_0 bring the largest number to the end of their codes", "[quant][encode]") {
  std::array<float, 32> x{};
  x[3] = 127.0F;
  x[4] = -63.0F;
  const auto bytes = Encoder<Q8_0>::run(x);
  CHECK(bytes.q[3] == 127);
  CHECK(bytes.q[4] == -63);
  const auto nibbles = Encoder<Q4_0>::run(x);
  CHECK((nibbles.q[3] & 15) == 0);
  CHECK(to_float(nibbles.d) < 0);
}
