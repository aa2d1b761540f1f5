#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include "encoder.hpp"

namespace lazymoe::quant::detail {

/// What one trial says about a scale: with codes q fixed, the sum of (x - d q)^2 is least for d = xq / qq, and is then
/// smaller than the sum of x^2 by xq^2 / qq.
struct ScaleTrial {
  float xq = 0.0F;
  float qq = 0.0F;

  void add(float x, float q) noexcept {
    xq += x * q;
    qq += q * q;
  }
  [[nodiscard]] float gain() const noexcept { return qq > 0.0F ? xq * xq / qq : 0.0F; }
};

/// The scale d that brings d * code(x / d) closest to x, of those that some trials lead to: each takes codes from one
/// guess of 1 / d and then the best d for these. `inverse_of(t)` is the guess of trial t in [0, trials).
template <class InverseOf, class Code>
[[nodiscard]] float search_scale(std::span<const float> x, int trials, InverseOf&& inverse_of, Code&& code) noexcept {
  float best = 0.0F;
  float most = 0.0F;
  for (int t = 0; t < trials; ++t) {
    const float inverse = inverse_of(t);
    ScaleTrial trial;
    for (const float v : x) trial.add(v, code(v * inverse));
    if (trial.gain() > most) {
      most = trial.gain();
      best = trial.xq / trial.qq;
    }
  }
  return best;
}

/// A scale for whole codes in [lowest, highest]. The number of largest magnitude goes near `lowest`.
[[nodiscard]] inline float search_scale(std::span<const float> x, float lowest, float highest) noexcept {
  const float to_lowest = reciprocal(signed_max(x));
  if (to_lowest == 0.0F) return 0.0F;
  constexpr int trials = 19;
  return search_scale(
      x, trials, [=](int t) { return (lowest + 0.1F * static_cast<float>(t - trials / 2)) * to_lowest; },
      [=](float v) { return std::clamp(std::nearbyint(v), lowest, highest); });
}

/// Weights d * q - min with whole q >= 0.
struct ScaleAndMin {
  float d = 0.0F;
  float min = 0.0F;  ///< not negative
};

/// A scale and a minimum for whole codes in [0, highest]: as search_scale(), with the best line through the points
/// (q, x) instead of the best ray.
[[nodiscard]] inline ScaleAndMin search_scale_and_min(std::span<const float> x, float highest) noexcept {
  const auto [lo, hi] = std::ranges::minmax(x);
  const float low = std::min(lo, 0.0F);
  ScaleAndMin best{.d = 0.0F, .min = -low};
  if (reciprocal(hi - low) == 0.0F) return best;

  double least = std::numeric_limits<double>::infinity();
  constexpr int trials = 24;
  for (int t = 0; t < trials; ++t) {
    const float inverse = (highest + 0.125F * static_cast<float>(t - 8)) / (hi - low);
    const auto n = static_cast<double>(x.size());
    double sx = 0, sq = 0, sqq = 0, sxq = 0, sxx = 0;
    for (const float v : x) {
      const double q = std::clamp(std::nearbyint((v - low) * inverse), 0.0F, highest);
      const double xi = v;
      sx += xi;
      sxx += xi * xi;
      sq += q;
      sqq += q * q;
      sxq += xi * q;
    }
    const double det = n * sqq - sq * sq;
    if (det <= 0) continue;
    double d = (n * sxq - sx * sq) / det;
    double offset = (sqq * sx - sq * sxq) / det;
    if (offset > 0) {
      offset = 0;
      d = sxq / sqq;
    }
    const double error = sxx - d * sxq - offset * sx;
    if (d > 0 && error < least) {
      least = error;
      best = {.d = static_cast<float>(d), .min = static_cast<float>(-offset)};
    }
  }
  return best;
}

}  // namespace lazymoe::quant::detail
