#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "../../simd/batch.hpp"
#include "../../simd/widen.hpp"
#include "../formats/plain.hpp"
#include "reference.hpp"

namespace lazymoe::quant {

namespace detail {

/// Batch::size numbers from any address, as floats.
template <class Batch>
[[nodiscard]] Batch load_floats(const float* from) noexcept {
  return Batch::load_unaligned(from);
}

template <class Batch>
[[nodiscard]] Batch load_floats(const F32::Block* from) noexcept {
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  return Batch::load_unaligned(reinterpret_cast<const float*>(bytes));
}

template <class Batch>
[[nodiscard]] Batch load_floats(const Half* from) noexcept {
#if defined(__F16C__) && defined(__AVX2__)
  if constexpr (Batch::size == 8) {
    return Batch(_mm256_cvtph_ps(simd::avx2::load16(from)));
  }
#endif
  std::array<float, Batch::size> wide;
  for (std::size_t i = 0; i < Batch::size; ++i) wide[i] = to_float(from[i]);
  return Batch::load_unaligned(wide.data());
}

template <class Batch>
[[nodiscard]] Batch load_floats(const BFloat16* from) noexcept {
#if defined(__AVX2__)
  if constexpr (Batch::size == 8) {
    return Batch(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(simd::avx2::load16(from)), 16)));
  }
#endif
  std::array<float, Batch::size> wide;
  for (std::size_t i = 0; i < Batch::size; ++i) wide[i] = to_float(from[i]);
  return Batch::load_unaligned(wide.data());
}

/// The first `n` numbers, then zeros.
template <class Batch, class T>
[[nodiscard]] Batch load_tail(const T* from, std::size_t n) noexcept {
  std::array<T, Batch::size> padded{};
  std::copy_n(from, n, padded.begin());
  return load_floats<Batch>(padded.data());
}

/// Sum of products in one order, whatever the addresses: batch b adds to chain b % Chains, the rest of the row is padded
/// to a batch and adds to the first.
template <class Arch, std::size_t Chains, class W, class X>
[[nodiscard]] float plain_dot(std::span<const W> w, const X* x) noexcept {
  using Batch = simd::Batch<Arch>;
  constexpr std::size_t lanes = Batch::size;
  std::array<Batch, Chains> part;
  part.fill(Batch(0.0F));
  const auto add = [&](std::size_t b, Batch& to) {
    to = simd::fma(load_floats<Batch>(w.data() + b * lanes), load_floats<Batch>(x + b * lanes), to);
  };
  const std::size_t batches = w.size() / lanes;
  const std::size_t whole = batches / Chains * Chains;
  for (std::size_t b = 0; b < whole; b += Chains) {
    simd::unroll<Chains>([&](auto p) { add(b + p, part[p]); });
  }
  for (std::size_t p = 0; p < batches - whole; ++p) add(whole + p, part[p]);
  if (const std::size_t rest = w.size() % lanes; rest != 0) {
    const std::size_t at = batches * lanes;
    part[0] = simd::fma(load_tail<Batch>(w.data() + at, rest), load_tail<Batch>(x + at, rest), part[0]);
  }
  for (std::size_t half = Chains / 2; half > 0; half /= 2) {
    for (std::size_t p = 0; p < half; ++p) part[p] += part[p + half];
  }
  return Chains == 1 ? simd::sum(part[0]) : simd::sum_of_neighbours(part[0]);
}

}  // namespace detail

/// One chain, as the reference multiplies matrices of floats by batches: routers choose by these sums.
template <simd::SimdArch Arch>
struct IntDotKernel<F32, Arch> {
  static float run(std::span<const F32::Block> row, const float* x) noexcept {
    return detail::plain_dot<Arch, 1>(row, x);
  }
};

template <simd::SimdArch Arch>
struct IntDotKernel<F16, Arch> {
  static float run(std::span<const F16::Block> row, const Half* x) noexcept { return detail::plain_dot<Arch, 4>(row, x); }
};

template <simd::SimdArch Arch>
struct IntDotKernel<BF16, Arch> {
  static float run(std::span<const BF16::Block> row, const BFloat16* x) noexcept {
    return detail::plain_dot<Arch, 4>(row, x);
  }
};

template <simd::SimdArch Arch>
struct DotKernel<F32, Arch> {
  static float run(std::span<const F32::Block> row, const float* x) noexcept {
    return detail::plain_dot<Arch, 4>(row, x);
  }
};

template <simd::SimdArch Arch>
struct DotKernel<F16, Arch> {
  static float run(std::span<const F16::Block> row, const float* x) noexcept {
    return detail::plain_dot<Arch, 4>(row, x);
  }
};

template <simd::SimdArch Arch>
struct DotKernel<BF16, Arch> {
  static float run(std::span<const BF16::Block> row, const float* x) noexcept {
    return detail::plain_dot<Arch, 4>(row, x);
  }
};

}  // namespace lazymoe::quant
