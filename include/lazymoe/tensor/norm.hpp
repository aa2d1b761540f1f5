#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../simd/vector.hpp"
#include "aliases.hpp"

namespace lazymoe::tensor {

/// Root-mean-square norm: y[i] = weight[i] * x[i] / sqrt(mean(x^2) + epsilon). `y` may be `x`.
///
/// @shape  x[n], weight[n] -> y[n]
/// @source Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019; as in the reference, the mean is
///         summed in double, in order, over squares rounded to float
inline void rms_norm(std::span<const float> x, std::span<const float> weight, float epsilon,
                     std::span<float> y) noexcept {
  LAZYMOE_EXPECTS(x.size() == weight.size() && x.size() == y.size());
  double squares = 0.0;
  for (const float v : x) squares += static_cast<double>(v * v);
  const float mean = static_cast<float>(squares / static_cast<double>(x.size()));
  const simd::FloatBatch factor(1.0F / std::sqrt(mean + epsilon));
  simd::transform(
      x.size(), y.data(),
      [&](const simd::FloatBatch& xi, const simd::FloatBatch& wi) { return (xi * factor) * wi; }, x.data(),
      weight.data());
}

/// The same for every row of a batch.
inline void rms_norm(const ConstRows& x, std::span<const float> weight, float epsilon, Rows y) noexcept {
  for (std::size_t t = 0; t < row_count(x); ++t) rms_norm(row(x, t), weight, epsilon, row(y, t));
}

/// Euclidean norm, in place: x[i] /= max(|x|, epsilon). As in the reference, the squares are summed in double.
inline void l2_norm(std::span<float> x, float epsilon) noexcept {
  double squares = 0.0;
  for (const float v : x) squares += static_cast<double>(v * v);
  simd::scale(1.0F / std::max(std::sqrt(static_cast<float>(squares)), epsilon), x.data(), x.data(), x.size());
}

/// The same for each of the `n / weight.size()` heads that lie side by side in x[n], in place.
inline void rms_norm_heads(std::span<float> x, std::span<const float> weight, float epsilon) noexcept {
  LAZYMOE_EXPECTS(x.size() % weight.size() == 0);
  for (std::size_t at = 0; at < x.size(); at += weight.size()) {
    const auto head = x.subspan(at, weight.size());
    rms_norm(head, weight, epsilon, head);
  }
}

}  // namespace lazymoe::tensor
