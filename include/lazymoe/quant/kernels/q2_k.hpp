#pragma once

#include <cstddef>

#include "../../simd/widen.hpp"
#include "../formats/q2_k.hpp"
#include "q6_k.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// One chain for products and minimums, in this order within a block.
struct SumsOfBoth : SumsOfEight {
  template <class Weights>
  void add(const Weights& w, __m256i products, const ActivationQ8_K* y) noexcept {
    SumsOfEight::add(w, products, y);
    const __m256 min_sums = _mm256_cvtepi32_ps(sums_of_groups(w.mins, y));
    eight = simd::avx2::fma(_mm256_mul_ps(w.minus_dmin, _mm256_set1_ps(y->d)), min_sums, eight);
  }
};

}  // namespace detail

/// Q2_K: the minimums meet the sums of 16 that the activation carries.
template <simd::Avx2Arch Arch>
struct BlockDot<Q2_K, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsOfBoth;

  struct Weights {
    explicit Weights(const Q2_K::Block& of) noexcept
        : block(of),
          d(detail::all_lanes(of.d)),
          minus_dmin(_mm256_xor_ps(detail::all_lanes(of.dmin), _mm256_set1_ps(-0.0F))),
          groups(_mm_and_si128(simd::avx2::load16(of.scales.data()), _mm_set1_epi8(15))),
          mins(_mm256_srli_epi16(_mm256_cvtepu8_epi16(simd::avx2::load16(of.scales.data())), 4)) {}

    template <std::size_t R>
    [[nodiscard]] detail::UnsignedRun<32 * R> step() const noexcept {
      using namespace simd::avx2;
      return {shift_and<2 * (R % 4)>(load32(block.q.data() + 32 * (R / 4)), 3), groups.scale<R>()};
    }

    const Q2_K::Block& block;
    __m256 d;
    __m256 minus_dmin;
    detail::HalfGroupVectors groups;
    __m256i mins;
  };
};

}  // namespace lazymoe::quant

#endif
