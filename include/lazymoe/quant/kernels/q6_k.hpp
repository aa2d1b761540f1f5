#pragma once

#include <cstddef>

#include "../../simd/widen.hpp"
#include "../formats/q6_k.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// Scales of 16 groups of 16, as Q2_K, Q3_K and Q6_K have them.
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

  /// The scales of all groups, times 2^Shift.
  /// @pre Shift <= 7
  template <int Shift = 0>
  [[nodiscard]] __m256i in_order() const noexcept {
    return _mm256_slli_epi16(in_order_, Shift);
  }

 private:
  __m256i in_order_;
  __m256i by_run_;
};

/// Eight parts of the sum over groups of factor[g] * (sum of y in g).
[[nodiscard]] inline __m256i sums_of_groups(__m256i factors, const ActivationQ8_K* y) noexcept {
  return simd::avx2::scaled_sums(factors, simd::avx2::load32(y->sums.data()));
}

/// SumsOfEight for weights that were kept unsigned: what they are too large by meets the sums of 16 that the
/// activation carries. Weights have a member `excess`, a factor for every group.
struct SumsWithoutExcess : SumsOfEight {
  template <class Weights>
  void add(const Weights& w, __m256i products, const ActivationQ8_K* y) noexcept {
    SumsOfEight::add(w, _mm256_sub_epi32(products, sums_of_groups(w.excess, y)), y);
  }
};

}  // namespace detail

/// Q6_K with its weights kept unsigned: 32 too large.
template <simd::Avx2Arch Arch>
struct BlockDot<Q6_K, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsWithoutExcess;

  struct Weights {
    explicit Weights(const Q6_K::Block& of) noexcept
        : block(of),
          d(detail::all_lanes(of.d)),
          groups(simd::avx2::load16(of.scales.data())),
          excess(groups.in_order<5>()) {}

    template <std::size_t R>
    [[nodiscard]] detail::UnsignedRun<32 * R> step() const noexcept {
      using namespace simd::avx2;
      constexpr std::size_t h = R / 4;
      constexpr int r = R % 4;
      const __m256i low = shift_and<4 * (r / 2)>(load32(block.low.data() + 64 * h + 32 * (r % 2)), 15);
      const __m256i high = shift_and<2 * r - 4>(load32(block.high.data() + 32 * h), 48);
      return {_mm256_or_si256(low, high), groups.scale<R>()};
    }

    const Q6_K::Block& block;
    __m256 d;
    detail::HalfGroupVectors groups;
    __m256i excess;
  };
};

}  // namespace lazymoe::quant

#endif
