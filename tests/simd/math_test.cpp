#include <lazymoe/simd/math.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::simd {

TEST_CASE("swiglu is silu(gate) * up within a few units in the last place", "[simd]") {
  test::Noise noise(3);
  const auto gate = noise.values(1001, 20.0F);
  const auto up = noise.values(1001, 3.0F);
  std::vector<float> out(1001);
  swiglu(gate.data(), up.data(), out.data(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double exact = double{gate[i]} / (1.0 + std::exp(-double{gate[i]})) * double{up[i]};
    CHECK(std::abs(out[i] - exact) <= 4e-7 * std::abs(exact) + 1e-30);
  }
}

TEST_CASE("silu is right at its ends", "[simd]") {
  const float one = 1.0F;
  float y = 0.0F;
  for (const float far : {-100.0F, -1000.0F, -std::numeric_limits<float>::max()}) {
    swiglu(&far, &one, &y, 1);
    CHECK(std::abs(y) < 1e-30F);
  }
  const float large = 1e30F;
  swiglu(&large, &one, &y, 1);
  CHECK(y == large);
}

TEST_CASE("softmax sums to one, keeps the order, and survives large inputs", "[simd]") {
  for (const std::size_t n : {1U, 2U, 7U, 8U, 9U, 128U, 1000U}) {
    test::Noise noise(n);
    auto x = noise.values(n, 50.0F);
    const auto before = x;
    softmax(x.data(), n);
    double largest = -1e9;
    for (const float v : before) largest = std::max(largest, double{v});
    double total = 0.0;
    for (const float v : before) total += std::exp(double{v} - largest);
    for (std::size_t i = 0; i < n; ++i) {
      CHECK(std::abs(x[i] - std::exp(double{before[i]} - largest) / total) <= 2e-6);
    }
    CHECK(std::abs(std::accumulate(x.begin(), x.end(), 0.0) - 1.0) < 1e-5);
  }
  std::vector<float> huge{3e38F, 3e38F};
  softmax(huge.data(), 2);
  CHECK(huge[0] == 0.5F);
}

}  // namespace lazymoe::simd
