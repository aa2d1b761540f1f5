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

TEST_CASE("sigmoid is one half at zero, and 0 and 1 far away", "[simd]") {
  CHECK(sigmoid(0.0F) == 0.5F);
  CHECK(sigmoid(200.0F) == 1.0F);
  CHECK(sigmoid(-200.0F) == 0.0F);
  for (const float x : {-5.0F, -0.3F, 1.0F, 7.5F}) {
    CHECK(static_cast<double>(sigmoid(x)) == Approx(1.0 / (1.0 + std::exp(-static_cast<double>(x)))));
  }
}

TEST_CASE("clamped_swiglu limits gate from above and up on both sides", "[simd]") {
  const auto expected = [](double g, double u) {
    g = std::min(g, 7.0);
    u = std::clamp(u, -7.0, 7.0);
    return g / (1.0 + std::exp(-1.702 * g)) * (u + 1.0);
  };
  for (const float gate : {-30.0F, -2.0F, 0.0F, 1.5F, 7.0F, 50.0F}) {
    for (const float up : {-30.0F, -1.0F, 0.0F, 3.0F, 50.0F}) {
      float y = 0.0F;
      clamped_swiglu(&gate, &up, &y, 1);
      CHECK(static_cast<double>(y) == Approx(expected(static_cast<double>(gate), static_cast<double>(up))).margin(1e-12));
    }
  }
}

TEST_CASE("A softmax whose last values are taken one by one is the same but for last bits", "[simd]") {
  for (std::size_t n = 1; n <= 2 * float_lanes + 1; ++n) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = 0.3F * static_cast<float>(i % 7) - 1.0F;
    std::vector<float> y = x;
    softmax(x.data(), n);
    softmax(y.data(), n, nullptr, SoftmaxTail::one_by_one);
    for (std::size_t i = 0; i < n; ++i) CHECK(x[i] == Approx(y[i]).epsilon(1e-6));
  }
}

TEST_CASE("A sink takes its share of a softmax and gives nothing", "[simd]") {
  for (const float sink : {-3.0F, 0.5F, 20.0F}) {
    std::vector<float> with{1.0F, 2.0F, -1.0F, 0.0F, 0.5F, 0.25F, 3.0F, -2.0F, 1.5F};
    std::vector<float> all = with;
    all.push_back(sink);
    softmax(with.data(), with.size(), &sink);
    softmax(all.data(), all.size());
    for (std::size_t i = 0; i < with.size(); ++i) CHECK(with[i] == Approx(all[i]));
  }
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
