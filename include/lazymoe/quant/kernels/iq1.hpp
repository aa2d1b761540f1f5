#pragma once

#include <cstddef>

#include "../../simd/widen.hpp"
#include "../formats/iq1_m.hpp"
#include "../formats/iq1_s.hpp"
#include "codebook.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// Neighbouring pairs of w * y summed in int16, for w of -1, 0 and 1.
[[nodiscard]] inline __m256i pair_sums_of_signs(__m256i w, __m256i y) noexcept {
  return simd::avx2::pair_sums(_mm256_set1_epi8(1), _mm256_sign_epi8(y, w));
}

/// Eight times grid plus shift.
[[nodiscard]] inline __m256i eighths(__m256i grid, __m256i shift) noexcept {
  const __m256i twice = _mm256_add_epi8(grid, grid);
  const __m256i four_times = _mm256_add_epi8(twice, twice);
  return _mm256_add_epi8(_mm256_add_epi8(four_times, four_times), shift);
}

}  // namespace detail

/// IQ1_S: a shift meets the sums of 16 that the activation carries, and has a running sum of its own.
template <simd::Avx2Arch Arch>
struct BlockDot<IQ1_S, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;

  template <std::size_t G>
  struct Run {
    __m256i grid;
    __m256i scale;
    __m256i shift;  ///< 1 or -1 in every byte

    [[nodiscard]] LAZYMOE_INLINE __m256i add(__m256i products, const ActivationQ8_K* y) const noexcept {
      using namespace simd::avx2;
      const __m256i pairs = detail::pair_sums_of_signs(grid, load32(y->q.data() + 32 * G));
      return add_scaled_sums(products, pairs, scale);
    }
    [[nodiscard]] LAZYMOE_INLINE __m256i weights() const noexcept { return detail::eighths(grid, shift); }
  };

  struct Weights {
    explicit Weights(const IQ1_S::Block& of) noexcept : block(of), d(_mm256_set1_ps(to_float(of.d))) {
      const __m128i high = simd::avx2::load16(of.high.data());
      const __m128i scales8 =
          _mm_or_si128(_mm_and_si128(_mm_srli_epi16(high, 11), _mm_set1_epi16(14)), _mm_set1_epi16(1));
      const __m128i signs8 = _mm_or_si128(_mm_srai_epi16(high, 15), _mm_set1_epi16(1));
      const __m128i shifts8 = _mm_sign_epi16(scales8, signs8);
      scales = simd::avx2::twice(scales8);
      signs = simd::avx2::twice(_mm_packs_epi16(signs8, signs8));
      shifts = _mm256_set_m128i(_mm_unpackhi_epi16(shifts8, shifts8), _mm_unpacklo_epi16(shifts8, shifts8));
    }

    [[nodiscard]] __m256 unit() const noexcept { return _mm256_mul_ps(d, _mm256_set1_ps(0.125F)); }

    template <std::size_t G>
    [[nodiscard]] LAZYMOE_INLINE Run<G> step() const noexcept {
      const __m256i grid = detail::four_entries(
          iq1_grid.data(), [&](std::size_t l) LAZYMOE_INLINE { return IQ1_S::index(block, 4 * G + l); });
      return {grid, simd::avx2::spread_word<G>(scales), _mm256_shuffle_epi8(signs, _mm256_set1_epi8(G))};
    }

    const IQ1_S::Block& block;
    __m256 d;
    __m256i scales;  ///< of the 8 groups, in the 16-bit lanes of both halves
    __m256i signs;   ///< of the shifts of the 8 groups, in bytes of both halves
    __m256i shifts;  ///< scale with the sign of the shift, each twice: as the sums of 16 of an activation
  };

  struct Sums : detail::SumsOfEight {
    void add(const Weights& w, __m256i products, const ActivationQ8_K* y) noexcept {
      using namespace simd::avx2;
      SumsOfEight::add(w, products, y);
      const __m256i by_two = scaled_sums(w.shifts, load32(y->sums.data()));
      __m128i all = _mm_add_epi32(_mm256_castsi256_si128(by_two), _mm256_extracti128_si256(by_two, 1));
      all = _mm_add_epi32(all, _mm_shuffle_epi32(all, 0x4E));
      all = _mm_add_epi32(all, _mm_shuffle_epi32(all, 0xB1));
      const __m128 scale = _mm_mul_ss(_mm256_castps256_ps128(w.d), _mm_set_ss(y->d));
      shifted = fma(scale, _mm_cvtepi32_ps(all), shifted);
    }
    [[nodiscard]] float total() const noexcept { return SumsOfEight::total() + 0.125F * _mm_cvtss_f32(shifted); }

    __m128 shifted = _mm_setzero_ps();  ///< lane 0
  };
};

/// IQ1_M: shifts change every 8 weights, so that they are multiplied as the grid is, in running sums of their own.
template <simd::Avx2Arch Arch>
struct BlockDot<IQ1_M, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;

  struct Products {
    __m256i grid = _mm256_setzero_si256();
    __m256i shift = _mm256_setzero_si256();
  };

  template <std::size_t G>
  struct Run {
    __m256i grid;
    __m256i scale;
    __m256i shift;  ///< 1 or -1

    [[nodiscard]] LAZYMOE_INLINE Products add(Products products, const ActivationQ8_K* y) const noexcept {
      using namespace simd::avx2;
      const __m256i q = load32(y->q.data() + 32 * G);
      // A shift has the same sign in both bytes of a pair, so that it can move to the scale, once for all activations.
      const __m256i on_grid = scaled_sums(detail::pair_sums_of_signs(grid, q), scale);
      const __m256i shifted = scaled_sums(pair_sums(_mm256_set1_epi8(1), q), _mm256_sign_epi16(scale, shift));
      return {_mm256_add_epi32(products.grid, on_grid), _mm256_add_epi32(products.shift, shifted)};
    }
    [[nodiscard]] LAZYMOE_INLINE __m256i weights() const noexcept { return detail::eighths(grid, shift); }
  };

  struct Weights {
    explicit Weights(const IQ1_M::Block& of) noexcept
        : block(of),
          d(_mm256_set1_ps(to_float(IQ1_M::scale(of)))),
          scales(unpack_scales(of)),
          shifts(unpack_shifts(of)) {}

    [[nodiscard]] __m256 unit() const noexcept { return _mm256_mul_ps(d, _mm256_set1_ps(0.125F)); }

    template <std::size_t G>
    [[nodiscard]] LAZYMOE_INLINE Run<G> step() const noexcept {
      const __m256i grid = detail::four_entries(
          iq1_grid.data(), [&](std::size_t l) LAZYMOE_INLINE { return IQ1_M::index(block, 4 * G + l); });
      return {grid, simd::avx2::spread_word<G>(scales), shifts.template spread<G>()};
    }

    const IQ1_M::Block& block;
    __m256 d;
    __m256i scales;  ///< 16-bit lane G of the halves: of the first and last 16 weights of run G
    detail::BytesOfEights shifts;

   private:
    static __m256i unpack_scales(const IQ1_M::Block& of) noexcept {
      const __m128i words = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(of.scales.data()));
      const __m256i spread = simd::avx2::twice(_mm_unpacklo_epi16(words, words));
      // Products move the three bits of each group to bits 9-11: shifts by 16-bit lane do not exist.
      const __m256i to_same = _mm256_set_m128i(_mm_set1_epi32(0x0001'0040), _mm_set1_epi32(0x0008'0200));
      const __m256i doubled = _mm256_srli_epi16(_mm256_mullo_epi16(spread, to_same), 8);
      return _mm256_or_si256(_mm256_and_si256(doubled, _mm256_set1_epi16(14)), _mm256_set1_epi16(1));
    }

    static detail::BytesOfEights unpack_shifts(const IQ1_M::Block& of) noexcept {
      const __m128i high = simd::avx2::load16(of.high.data());
      const __m128i next = _mm_srli_epi16(high, 4);
      const __m256i nibbles = _mm256_set_m128i(_mm_unpackhi_epi8(high, next), _mm_unpacklo_epi8(high, next));
      const __m256i down = _mm256_set1_epi8(8);
      const __m256i is_down = _mm256_cmpeq_epi8(_mm256_and_si256(nibbles, down), down);
      return detail::BytesOfEights(_mm256_or_si256(is_down, _mm256_set1_epi8(1)));
    }
  };

  struct Sums {
    void add(const Weights& w, const Products& products, const ActivationQ8_K* y) noexcept {
      grid.add(w, products.grid, y);
      shift.add(w, products.shift, y);
    }
    [[nodiscard]] float total() const noexcept { return grid.total() + 0.125F * shift.total(); }

    detail::SumsOfEight grid;
    detail::SumsOfEight shift;
  };
};

}  // namespace lazymoe::quant

#endif
