#include <array>
#include <cmath>
#include <lazymoe/quant/encode/q6_k.hpp>

#include "support/catch.hpp"

using namespace lazymoe::quant;

TEST_CASE("Q6_K keeps numbers that lie on its grid", "[quant][encode]") {
  std::array<float, 256> x{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i % 16 == 0 ? -32 : static_cast<int>(i * 7 % 64) - 32);
  }
  std::array<float, 256> w{};
  Q6_K::decode(Encoder<Q6_K>::run(x), w);
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(w[i] - x[i]) < 0.01F);
}
