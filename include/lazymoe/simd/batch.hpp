#pragma once

#include <xsimd/xsimd.hpp>

#include "arch.hpp"

namespace lazymoe::simd {

/// As many floats as a register of `Arch` holds. Arithmetic is xsimd's.
template <SimdArch Arch = DefaultArch>
using Batch = xsimd::batch<float, Arch>;

/// a * b + c, rounded once where the instruction exists.
template <class Arch>
[[nodiscard]] inline xsimd::batch<float, Arch> fma(const xsimd::batch<float, Arch>& a,
                                                   const xsimd::batch<float, Arch>& b,
                                                   const xsimd::batch<float, Arch>& c) noexcept {
  return xsimd::fma(a, b, c);
}

/// Sum of the lanes, in an order that depends on the type only. xsimd 8 calls it hadd, later ones reduce_add.
template <class Arch>
[[nodiscard]] inline float sum(const xsimd::batch<float, Arch>& batch) noexcept {
  if constexpr (requires { reduce_add(batch); }) {
    return reduce_add(batch);
  } else {
    return hadd(batch);
  }
}

}  // namespace lazymoe::simd
