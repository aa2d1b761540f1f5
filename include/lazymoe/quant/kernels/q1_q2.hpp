#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/q1_0.hpp"
#include "../formats/q2_0.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// 32 weights that meet block `B` of the activation blocks of one block. Every one of those has a scale, so the
/// products of a block are floats.
template <std::size_t B>
struct ScaledRun {
  __m256i signs;
  __m256i magnitudes;

  [[nodiscard]] __m256 add(__m256 products, const ActivationQ8_0* y) const noexcept {
    using namespace simd::avx2;
    const __m256i sums = quad_sums_unsigned(magnitudes, _mm256_sign_epi8(load32(y[B].q.data()), signs));
    return add_scaled(products, y[B].d, sums);
  }
};

/// The same for weights of 1 and -1: activations whose bytes of `minus` are -1 are negated, others have 0 there.
template <std::size_t B>
struct NegatedRun {
  __m256i minus;

  [[nodiscard]] __m256 add(__m256 products, const ActivationQ8_0* y) const noexcept {
    using namespace simd::avx2;
    const __m256i negated = _mm256_sub_epi8(_mm256_xor_si256(load32(y[B].q.data()), minus), minus);
    return add_scaled(products, y[B].d, quad_sums_unsigned(_mm256_set1_epi8(1), negated));
  }
};

/// One chain of eight sums of products that are floats, scaled by the weights' d.
struct SumsOfScaled : SumsOfEight {
  template <class Weights>
  void add(const Weights& w, __m256 products, const ActivationQ8_0*) noexcept {
    eight = simd::avx2::fma(w.d, products, eight);
  }
};

}  // namespace detail

template <simd::Avx2Arch Arch>
struct BlockDot<Q1_0, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 4;
  using Products = __m256;
  using Sums = detail::SumsOfScaled;

  struct Weights {
    explicit Weights(const Q1_0::Block& of) noexcept : block(of), d(detail::all_lanes(of.d)) {}

    template <std::size_t R>
    [[nodiscard]] detail::NegatedRun<R> step() const noexcept {
      const auto bits = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(block.q.data() + 4 * R));
      return {simd::avx2::bytes_of_clear_bits(bits)};
    }

    const Q1_0::Block& block;
    __m256 d;
  };
};

template <simd::Avx2Arch Arch>
struct BlockDot<Q2_0, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 2;
  using Products = __m256;
  using Sums = detail::SumsOfScaled;

  struct Weights {
    explicit Weights(const Q2_0::Block& of) noexcept : d(detail::all_lanes(of.d)) {
      using namespace simd::avx2;
      // Bytes 0-3 and 8-11 in the lower half, 4-7 and 12-15 in the upper, each twice: one for either nibble.
      const __m256i order = _mm256_setr_epi8(0, 0, 1, 1, 2, 2, 3, 3, 8, 8, 9, 9, 10, 10, 11, 11,  //
                                             4, 4, 5, 5, 6, 6, 7, 7, 12, 12, 13, 13, 14, 14, 15, 15);
      const __m256i bytes = _mm256_shuffle_epi8(twice(load16(of.q.data())), order);
      const __m256i nibbles = _mm256_or_si256(_mm256_and_si256(bytes, _mm256_set1_epi16(0x000F)),
                                              _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi16(0x0F00)));
      const __m256i low = _mm256_shuffle_epi8(
          twice(_mm_setr_epi8(-1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2)), nibbles);
      const __m256i high = _mm256_shuffle_epi8(
          twice(_mm_setr_epi8(-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2)), nibbles);
      runs[0] = _mm256_unpacklo_epi8(low, high);
      runs[1] = _mm256_unpackhi_epi8(low, high);
    }

    template <std::size_t R>
    [[nodiscard]] detail::ScaledRun<R> step() const noexcept {
      return {runs[R], _mm256_abs_epi8(runs[R])};
    }

    __m256 d;
    __m256i runs[2];
  };
};

}  // namespace lazymoe::quant

#endif
