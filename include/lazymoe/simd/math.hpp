#pragma once

#include <algorithm>
#include <array>
#include <cmath>
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

/// 1 / (1 + e^-x), of one number: as the reference rounds it, with the exp of the C library.
[[nodiscard]] inline float sigmoid(float x) noexcept { return 1.0F / (1.0F + std::exp(-x)); }

/// x * sigmoid(x).
/// @error a few units in the last place (one exp, one division)
[[nodiscard]] inline FloatBatch silu(const FloatBatch& x) noexcept {
  return x / (FloatBatch(1.0F) + exp(FloatBatch(0.0F) - x));
}

/// out[i] = silu(gate[i]) * up[i], the activation of a SwiGLU feed-forward; out may be either input.
inline void swiglu(const float* gate, const float* up, float* out, std::size_t n) noexcept {
  transform(n, out, [](const FloatBatch& g, const FloatBatch& u) { return silu(g) * u; }, gate, up);
}

/// The activation of gpt-oss: g * sigmoid(1.702 g) * (u + 1) with g = min(gate, 7), u = up clamped to [-7, 7]; out may be
/// either input. As the reference rounds it: with the exp of the C library.
/// @source OpenAI, gpt-oss model card, 2025
inline void clamped_swiglu(const float* gate, const float* up, float* out, std::size_t n) noexcept {
  constexpr float limit = 7.0F;
  for (std::size_t i = 0; i < n; ++i) {
    const float g = std::min(gate[i], limit);
    const float u = std::clamp(up[i], -limit, limit);
    out[i] = g / (1.0F + std::exp(1.702F * -g)) * (u + 1.0F);
  }
}

/// How softmax() takes the exp of values that fill no register: by the same instructions, or one by one by the C
/// library. The reference does the latter where its rows are not padded: over experts.
enum class SoftmaxTail { in_register, one_by_one };

/// Softmax in place: x[i] = exp(x[i] - max) / sum, the sum taken in double over batches. A `sink` takes part as one
/// value more, whose share is not written.
/// @pre n > 0
inline void softmax(float* x, std::size_t n, const float* sink = nullptr,
                    SoftmaxTail tail = SoftmaxTail::in_register) noexcept {
  const float top = sink == nullptr ? maximum(x, n) : std::max(maximum(x, n), *sink);
  const FloatBatch largest(top);
  double total = 0.0;
  for (std::size_t i = 0; i < n; i += float_lanes) {
    const std::size_t m = std::min(float_lanes, n - i);
    if (m < float_lanes && tail == SoftmaxTail::one_by_one) {
      for (; i < n; ++i) total += static_cast<double>(x[i] = std::exp(x[i] - top));
      break;
    }
    const FloatBatch values = m == float_lanes ? FloatBatch::load_unaligned(x + i)
                                               : detail::load_tail(x + i, m, -std::numeric_limits<float>::infinity());
    const FloatBatch e = exp(values - largest);
    m == float_lanes ? e.store_unaligned(x + i) : detail::store_tail(e, x + i, m);
    total += static_cast<double>(sum(e));
  }
  if (sink != nullptr) total += static_cast<double>(std::exp(*sink - top));
  scale(static_cast<float>(1.0 / total), x, x, n);
}

}  // namespace lazymoe::simd
