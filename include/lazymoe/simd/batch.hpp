#pragma once

#include <array>
#include <cstddef>

#include <xsimd/xsimd.hpp>

#include "arch.hpp"
#include "widen.hpp"

namespace lazymoe::simd {

/// As many floats as a register of `Arch` holds. Arithmetic is xsimd's.
template <SimdArch Arch = DefaultArch>
using Batch = xsimd::batch<float, Arch>;

/// As many as `-march` allows, for what never adds across lanes: that has the same bits in any width.
using WideBatch = xsimd::batch<float, xsimd::default_arch>;

/// a * b + c, rounded once where the instruction exists.
template <class Arch>
[[nodiscard]] inline xsimd::batch<float, Arch> fma(const xsimd::batch<float, Arch>& a,
                                                   const xsimd::batch<float, Arch>& b,
                                                   const xsimd::batch<float, Arch>& c) noexcept {
  return xsimd::fma(a, b, c);
}

/// Has `batch` loaded once and kept: compilers may otherwise load it anew for every use.
template <class Arch>
inline void keep_in_register(xsimd::batch<float, Arch>& batch) noexcept {
#if defined(__x86_64__)
  asm("" : "+v"(batch.data));
#else
  (void)batch;
#endif
}

/// Sum of the lanes, folding the upper half onto the lower until one is left. Spelled out, as xsimd's own sums differ
/// in order between instruction sets and versions.
template <class Arch>
[[nodiscard]] inline float sum(const xsimd::batch<float, Arch>& batch) noexcept {
#if defined(__AVX2__)
  if constexpr (xsimd::batch<float, Arch>::size == 8) return avx2::sum(batch);
#endif
  constexpr std::size_t lanes = xsimd::batch<float, Arch>::size;
  std::array<float, lanes> x;
  batch.store_unaligned(x.data());
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) x[i] += x[i + half];
  }
  return x[0];
}

/// Sum of the lanes in the other usual order: one fold, then neighbours are added until one is left.
template <class Arch>
[[nodiscard]] inline float sum_of_neighbours(const xsimd::batch<float, Arch>& batch) noexcept {
#if defined(__AVX2__)
  if constexpr (xsimd::batch<float, Arch>::size == 8) return avx2::sum_of_neighbours(batch);
#endif
  constexpr std::size_t lanes = xsimd::batch<float, Arch>::size;
  std::array<float, lanes> x;
  batch.store_unaligned(x.data());
  for (std::size_t i = 0; i < lanes / 2; ++i) x[i] += x[i + lanes / 2];
  for (std::size_t step = 1; step < lanes / 2; step *= 2) {
    for (std::size_t i = 0; i < lanes / 2; i += 2 * step) x[i] += x[i + step];
  }
  return x[0];
}

}  // namespace lazymoe::simd
