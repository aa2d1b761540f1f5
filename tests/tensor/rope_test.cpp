#include <lazymoe/tensor/rope.hpp>

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::tensor {
namespace {

/// The published formula, in double.
std::vector<double> rotated(const std::vector<float>& x, const RopeOptions& o, std::size_t position) {
  std::vector<double> y(x.begin(), x.end());
  for (std::size_t i = 0; i < o.n_rot / 2; ++i) {
    const double theta = static_cast<double>(position) * double{o.freq_scale} *
                         std::pow(double{o.base}, -2.0 * static_cast<double>(i) / static_cast<double>(o.n_rot));
    const std::size_t a = o.pairs == RopePairs::neox ? i : 2 * i;
    const std::size_t b = o.pairs == RopePairs::neox ? i + o.n_rot / 2 : 2 * i + 1;
    y[a] = double{x[a]} * std::cos(theta) - double{x[b]} * std::sin(theta);
    y[b] = double{x[a]} * std::sin(theta) + double{x[b]} * std::cos(theta);
  }
  return y;
}

}  // namespace

TEST_CASE("Rope rotates the pairs of both styles, and only the first n_rot elements", "[tensor]") {
  const auto pairs = GENERATE(RopePairs::neox, RopePairs::norm);
  const auto n_rot = GENERATE(8U, 16U);
  const auto position = GENERATE(0U, 1U, 2U, 100U, 4000U);
  const RopeOptions options{.n_rot = n_rot, .base = 1e6F, .pairs = pairs};
  const Rope rope(options);
  const auto x = test::Noise(position).values(16);
  auto y = x;
  rope.rotate(y, 16, rope.angles(position));
  const auto expected = rotated(x, options, position);
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::abs(y[i] - expected[i]) < 1e-3);  // float angles of thousands
  if (position <= 2) {
    for (std::size_t i = 0; i < 16; ++i) CHECK(std::abs(y[i] - expected[i]) < 1e-6);
  }
}

TEST_CASE("All heads are rotated alike, and the length of a pair stays", "[tensor]") {
  const Rope rope({.n_rot = 8, .base = 10000.0F, .freq_scale = 0.25F});
  const auto head = test::Noise(5).values(8);
  std::vector<float> x(head);
  x.insert(x.end(), head.begin(), head.end());
  rope.rotate(x, 8, rope.angles(9));
  const auto expected = rotated(head, {.n_rot = 8, .base = 10000.0F, .freq_scale = 0.25F}, 9);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(x[i] == x[8 + i]);
    CHECK(std::abs(x[i] - expected[i]) < 1e-6);
  }
}

}  // namespace lazymoe::tensor
