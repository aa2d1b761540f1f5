#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "../../simd/widen.hpp"
#include "../formats/q6_k.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// Signed scales of 16 groups of 16, as Q3_K and Q6_K have them.
class HalfGroupVectors {
 public:
  explicit HalfGroupVectors(__m128i scales8) noexcept : in_order_(_mm256_cvtepi8_epi16(scales8)) {
    // Even groups into the lower half, odd ones into the upper: a run of 32 weights needs one of each.
    const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    by_run_ = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scales8, order));
  }

  /// The scales of run R (groups 2R and 2R + 1) in the 16-bit lanes of the lower and the upper half.
  template <std::size_t R>
  [[nodiscard]] __m256i scale() const noexcept {
    return simd::avx2::spread_word<R>(by_run_);
  }

  /// Eight parts of the sum over groups of scale[g] * (sum of y in g).
  [[nodiscard]] __m256i sums(const Q8_K::Block& y) const noexcept {
    return simd::avx2::scaled_sums(in_order_, simd::avx2::load32(y.sums.data()));
  }

 private:
  __m256i in_order_;
  __m256i by_run_;
};

}  // namespace detail

/// Q6_K with its weights kept unsigned: what they are too large by is 32 times the sums of 16 that the
/// activation carries.
template <simd::Avx2Arch Arch>
struct IntDotKernel<Q6_K, Arch> {
  static float run(std::span<const Q6_K::Block> row, const Q8_K::Block* y) noexcept {
    using namespace simd::avx2;
    __m256 total = _mm256_setzero_ps();
    for (const auto& block : row) {
      const detail::HalfGroupVectors groups(load16(block.scales.data()));
      __m256i even = _mm256_setzero_si256();
      __m256i odd = _mm256_setzero_si256();
      simd::unroll<2>([&](auto half) {
        constexpr std::size_t h = half;
        const __m256i low0 = load32(block.low.data() + 64 * h);
        const __m256i low1 = load32(block.low.data() + 64 * h + 32);
        const __m256i high = load32(block.high.data() + 32 * h);
        const auto* x = y->q.data() + 128 * h;
        const __m256i run0 = _mm256_or_si256(shift_and<0>(low0, 15), shift_and<-4>(high, 48));
        const __m256i run1 = _mm256_or_si256(shift_and<0>(low1, 15), shift_and<-2>(high, 48));
        const __m256i run2 = _mm256_or_si256(shift_and<4>(low0, 15), shift_and<0>(high, 48));
        const __m256i run3 = _mm256_or_si256(shift_and<4>(low1, 15), shift_and<2>(high, 48));
        even = _mm256_add_epi32(even, scaled_sums(pair_sums(run0, load32(x)), groups.scale<4 * h>()));
        odd = _mm256_add_epi32(odd, scaled_sums(pair_sums(run1, load32(x + 32)), groups.scale<4 * h + 1>()));
        even = _mm256_add_epi32(even, scaled_sums(pair_sums(run2, load32(x + 64)), groups.scale<4 * h + 2>()));
        odd = _mm256_add_epi32(odd, scaled_sums(pair_sums(run3, load32(x + 96)), groups.scale<4 * h + 3>()));
      });
      const __m256i excess = _mm256_slli_epi32(groups.sums(*y), 5);
      const __m256i exact = _mm256_sub_epi32(_mm256_add_epi32(even, odd), excess);
      total = add_scaled(total, y->d * to_float(block.d), exact);
      ++y;
    }
    return sum(total);
  }
};

}  // namespace lazymoe::quant

#endif
