#pragma once

#include <cstddef>

#include "vector.hpp"

namespace lazymoe::simd {

/// x * sigmoid(x).
/// @error a few units in the last place (one exp, one division)
[[nodiscard]] inline FloatBatch silu(const FloatBatch& x) noexcept {
  return x / (FloatBatch(1.0F) + xsimd::exp(-x));
}

/// out[i] = silu(gate[i]) * up[i], the activation of a SwiGLU feed-forward; out may be either input.
inline void swiglu(const float* gate, const float* up, float* out, std::size_t n) noexcept {
  transform(n, out, [](const FloatBatch& g, const FloatBatch& u) { return silu(g) * u; }, gate, up);
}

/// Replaces x by exp(x - shift) and returns the sum, added in a fixed order.
inline float exp_and_sum(float* x, std::size_t n, float shift) noexcept {
  const FloatBatch s(shift);
  FloatBatch total(0.0F);
  std::size_t i = 0;
  for (; i + float_lanes <= n; i += float_lanes) {
    const FloatBatch e = xsimd::exp(FloatBatch::load_unaligned(x + i) - s);
    e.store_unaligned(x + i);
    total += e;
  }
  float tail = 0.0F;
  if (i < n) {
    detail::store_tail(xsimd::exp(detail::load_tail(x + i, n - i) - s), x + i, n - i);
    for (; i < n; ++i) tail += x[i];
  }
  return sum(total) + tail;
}

/// Softmax in place: x[i] = exp(x[i] - max) / sum.
inline void softmax(float* x, std::size_t n) noexcept {
  const float total = exp_and_sum(x, n, maximum(x, n));
  scale(1.0F / total, x, x, n);
}

}  // namespace lazymoe::simd
