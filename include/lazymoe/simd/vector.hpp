#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "batch.hpp"

/// Elementary operations on float arrays. Each result is a pure function of the values: never of the address, the
/// alignment or the thread, because the tail runs through the same instructions as the body (house rule 13).
namespace lazymoe::simd {

using FloatBatch = Batch<>;
inline constexpr std::size_t float_lanes = FloatBatch::size;

namespace detail {

/// The last `n < float_lanes` values, the rest `padding`.
inline FloatBatch load_tail(const float* x, std::size_t n, float padding = 0.0F) noexcept {
  alignas(64) std::array<float, float_lanes> padded;
  padded.fill(padding);
  std::copy_n(x, n, padded.data());
  return FloatBatch::load_aligned(padded.data());
}

inline void store_tail(const FloatBatch& batch, float* x, std::size_t n) noexcept {
  alignas(64) std::array<float, float_lanes> padded;
  batch.store_aligned(padded.data());
  std::copy_n(padded.data(), n, x);
}

}  // namespace detail

/// y[i] = fn(x[i]...) for batches of floats; `fn` takes and returns FloatBatch.
template <class Fn, class... Inputs>
inline void transform(std::size_t n, float* y, Fn&& fn, const Inputs*... x) noexcept {
  std::size_t i = 0;
  for (; i + float_lanes <= n; i += float_lanes) fn(FloatBatch::load_unaligned(x + i)...).store_unaligned(y + i);
  if (i < n) detail::store_tail(fn(detail::load_tail(x + i, n - i)...), y + i, n - i);
}

/// y[i] += factor * x[i], each by one fused multiply-add where the ISA has one.
inline void add_scaled(float factor, const float* x, float* y, std::size_t n) noexcept {
  const FloatBatch f(factor);
  transform(n, y, [&](const FloatBatch& xi, const FloatBatch& yi) { return fma(f, xi, yi); }, x,
            static_cast<const float*>(y));
}

/// y[i] += x[i].
inline void add(const float* x, float* y, std::size_t n) noexcept {
  transform(n, y, [](const FloatBatch& xi, const FloatBatch& yi) { return xi + yi; }, x, static_cast<const float*>(y));
}

/// y[i] = factor * x[i]; y may be x.
inline void scale(float factor, const float* x, float* y, std::size_t n) noexcept {
  const FloatBatch f(factor);
  transform(n, y, [&](const FloatBatch& xi) { return f * xi; }, x);
}

/// The largest of x[0..n), n > 0.
[[nodiscard]] inline float maximum(const float* x, std::size_t n) noexcept { return *std::max_element(x, x + n); }

}  // namespace lazymoe::simd
