#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "vector.hpp"

namespace lazymoe::simd {

/// e^x: 0 below -104, infinity above 89.
///
/// @error  1.5 units in the last place
/// @source Arm Optimized Routines, vector expf: x = n ln2 + b, a polynomial in b, times 2^n. The reference uses the
///         same algorithm and constants, so that both round alike; another exp would flip roundings further down
[[nodiscard]] inline FloatBatch exp(const FloatBatch& x) noexcept {
  using Value = FloatBatch;
  const Value limited = xsimd::min(Value(89.5F), xsimd::max(Value(-104.5F), x));  // in this order NaN stays NaN
  const Value shift(0x1.8p23F);  // adding it rounds to an integer
  const Value n = fma(limited, Value(0x1.715476p+0F), shift) - shift;
  const Value b = xsimd::fnma(n, Value(0x1.7f7d1cp-20F), xsimd::fnma(n, Value(0x1.62e4p-1F), limited));
  const Value u = b * b;
  const Value tail = fma(fma(Value(0x1.0e4020p-7F), b, Value(0x1.573e2ep-5F)), u,
                         fma(Value(0x1.555e66p-3F), b, Value(0x1.fffdb6p-2F)));
  const Value j = fma(tail, u, Value(0x1.ffffecp-1F) * b);
  // In two steps, so that 2^n cannot overflow before the product does.
  const Value half = xsimd::floor(n * Value(0.5F));
  return xsimd::ldexp(xsimd::ldexp(Value(1.0F) + j, xsimd::to_int(half)), xsimd::to_int(n - half));
}

/// x * sigmoid(x).
/// @error a few units in the last place (one exp, one division)
[[nodiscard]] inline FloatBatch silu(const FloatBatch& x) noexcept {
  return x / (FloatBatch(1.0F) + exp(FloatBatch(0.0F) - x));
}

/// out[i] = silu(gate[i]) * up[i], the activation of a SwiGLU feed-forward; out may be either input.
inline void swiglu(const float* gate, const float* up, float* out, std::size_t n) noexcept {
  transform(n, out, [](const FloatBatch& g, const FloatBatch& u) { return silu(g) * u; }, gate, up);
}

/// Softmax in place: x[i] = exp(x[i] - max) / sum, the sum taken in double over batches.
/// @pre n > 0
inline void softmax(float* x, std::size_t n) noexcept {
  const FloatBatch largest(maximum(x, n));
  double total = 0.0;
  for (std::size_t i = 0; i < n; i += float_lanes) {
    const std::size_t m = std::min(float_lanes, n - i);
    const FloatBatch values = m == float_lanes ? FloatBatch::load_unaligned(x + i)
                                               : detail::load_tail(x + i, m, -std::numeric_limits<float>::infinity());
    const FloatBatch e = exp(values - largest);
    m == float_lanes ? e.store_unaligned(x + i) : detail::store_tail(e, x + i, m);
    total += static_cast<double>(sum(e));
  }
  scale(static_cast<float>(1.0 / total), x, x, n);
}

}  // namespace lazymoe::simd
