#include <algorithm>
#include <cmath>
#include <lazymoe/tensor/rope.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::tensor {
namespace {

/// What YaRN makes of the angle of pair `i`: Peng et al., 2023, as the reference reads it.
double yarn_angle(const RopeOptions& o, std::size_t i, double theta) {
  const auto pair_of = [&](float turns) {
    const double positions = double{o.yarn.n_ctx_train} / (double{turns} * 2.0 * 3.14159265358979323846);
    return static_cast<double>(o.n_rot) * std::log(positions) / (2.0 * std::log(double{o.base}));
  };
  const double low = std::max(0.0, std::floor(pair_of(o.yarn.fast_turns)));
  const double high = std::min(static_cast<double>(o.n_rot) - 1.0, std::ceil(pair_of(o.yarn.slow_turns)));
  const double ramp = (static_cast<double>(i) - low) / std::max(0.001, high - low);
  const double kept = (1.0 - std::min(1.0, std::max(0.0, ramp))) * double{o.yarn.share};
  return theta * (double{o.freq_scale} * (1.0 - kept) + kept);
}

/// The published formula, in double.
std::vector<double> rotated(const std::vector<float>& x, const RopeOptions& o, std::size_t position) {
  std::vector<double> y(x.begin(), x.end());
  for (std::size_t i = 0; i < o.n_rot / 2; ++i) {
    const double plain = static_cast<double>(position) *
                         std::pow(double{o.base}, -2.0 * static_cast<double>(i) / static_cast<double>(o.n_rot));
    const double theta = o.yarn.share == 0.0F ? plain * double{o.freq_scale} : yarn_angle(o, i, plain);
    const std::size_t a = o.pairs == RopePairs::neox ? i : 2 * i;
    const std::size_t b = o.pairs == RopePairs::neox ? i + o.n_rot / 2 : 2 * i + 1;
    y[a] = double{o.magnitude} * (double{x[a]} * std::cos(theta) - double{x[b]} * std::sin(theta));
    y[b] = double{o.magnitude} * (double{x[a]} * std::sin(theta) + double{x[b]} * std::cos(theta));
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

TEST_CASE("YaRN keeps fast pairs, scales slow ones and mixes those between", "[tensor]") {
  const float share = GENERATE(1.0F, 0.5F);
  const auto pairs = GENERATE(RopePairs::neox, RopePairs::norm);
  const RopeOptions deepseek{.freq_scale = 1.0F / 40.0F, .yarn = {.n_ctx_train = 4096.0F}};
  const RopeOptions gpt_oss{
      .base = 150000.0F, .freq_scale = 1.0F / 32.0F, .magnitude = 1.3465736F, .yarn = deepseek.yarn};
  const RopeOptions all_slow{.freq_scale = 0.25F, .yarn = {.n_ctx_train = 6.0F}};
  const RopeOptions no_ramp{.freq_scale = 0.25F, .yarn = {.n_ctx_train = 8192.0F, .fast_turns = 1.0F}};
  for (const RopeOptions& numbers : {deepseek, gpt_oss, all_slow, no_ramp}) {
    RopeOptions options = numbers;
    options.n_rot = 64;
    options.pairs = pairs;
    options.yarn.share = share;
    const Rope rope(options);
    for (const std::size_t position : {0U, 1U, 3U, 50U}) {
      CAPTURE(options.base, options.yarn.n_ctx_train, position);
      const auto x = test::Noise(position).values(64);
      auto y = x;
      rope.rotate(y, 64, rope.angles(position));
      const auto expected = rotated(x, options, position);
      for (std::size_t i = 0; i < 64; ++i) CHECK(std::abs(y[i] - expected[i]) < 2e-5);
    }
  }
}

}  // namespace lazymoe::tensor
