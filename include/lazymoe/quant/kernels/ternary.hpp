#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/tq1_0.hpp"
#include "../formats/tq2_0.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// Whether products are summed as quads in int32, by one instruction, instead of as pairs in int16.
inline constexpr bool ternary_quads = simd::avx2::has_vnni;

/// 32 weights of a block of 256 from `Offset` on, too large by one: few enough bits to sum a block in int16.
template <std::size_t Offset>
struct TernaryRun {
  __m256i weights;

  [[nodiscard]] __m256i add(__m256i products, const ActivationQ8_K* y) const noexcept {
    using namespace simd::avx2;
    const __m256i q = load32(y->q.data() + Offset);
    if constexpr (ternary_quads) return add_quad_sums_unsigned(products, weights, q);
    return _mm256_add_epi16(products, pair_sums(weights, q));
  }
};

/// Takes the excess of one from the products by the sums of 16 that the activation carries.
struct TernarySums : SumsOfEight {
  template <class Weights>
  void add(const Weights& w, __m256i products, const ActivationQ8_K* y) noexcept {
    using namespace simd::avx2;
    const __m256i sums = load32(y->sums.data());
    const __m256i one = _mm256_set1_epi16(1);
    const __m256i exact = ternary_quads ? _mm256_sub_epi32(products, scaled_sums(sums, one))
                                        : scaled_sums(_mm256_sub_epi16(products, sums), one);
    SumsOfEight::add(w, exact, y);
  }
};

/// 3^N * x modulo 256, byte by byte.
template <std::size_t N>
[[nodiscard]] __m256i times_power_of_3(__m256i x) noexcept {
  if constexpr (N == 0) {
    return x;
  } else {
    const __m256i t = times_power_of_3<N - 1>(x);
    return _mm256_add_epi8(t, _mm256_add_epi8(t, t));
  }
}

}  // namespace detail

template <simd::Avx2Arch Arch>
struct BlockDot<TQ2_0, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::TernarySums;

  struct Weights {
    explicit Weights(const TQ2_0::Block& of) noexcept : block(of), d(detail::all_lanes(of.d)) {}

    template <std::size_t R>
    [[nodiscard]] detail::TernaryRun<32 * R> step() const noexcept {
      using namespace simd::avx2;
      return {shift_and<2 * (R % 4)>(load32(block.q.data() + 32 * (R / 4)), 3)};
    }

    const TQ2_0::Block& block;
    __m256 d;
  };
};

/// TQ1_0. A digit is a comparison of the byte, tripled once for each digit before it, with 256 / 3 and 512 / 3. Bytes
/// compare as signed ones only, so 128 is added first; tripling keeps that, modulo 256.
template <simd::Avx2Arch Arch>
struct BlockDot<TQ1_0, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::TernarySums;

  struct Weights {
    explicit Weights(const TQ1_0::Block& of) noexcept : d(detail::all_lanes(of.d)) {
      using namespace simd::avx2;
      const __m256i shift = _mm256_set1_epi8(-128);
      first = _mm256_xor_si256(load32(of.q.data()), shift);
      const __m256i x = _mm256_xor_si256(twice(load16(of.q.data() + 32)), shift);
      second = _mm256_blend_epi32(x, detail::times_power_of_3<1>(x), 0xF0);

      const auto rest = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(of.rest.data()));
      const __m256i words = _mm256_cvtepu8_epi16(_mm_set1_epi32(static_cast<int>(rest)));
      const __m256i powers = _mm256_setr_epi16(1, 1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27);
      const __m256i tripled = _mm256_and_si256(_mm256_mullo_epi16(words, powers), _mm256_set1_epi16(0xFF));
      const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(tripled, tripled), 0x88);
      last = _mm256_blend_epi32(detail::times_power_of_3<4>(second), _mm256_xor_si256(bytes, shift), 0xF0);
    }

    template <std::size_t R>
    [[nodiscard]] detail::TernaryRun<32 * R> step() const noexcept {
      if constexpr (R < 5) return {digits(detail::times_power_of_3<R>(first))};
      if constexpr (R == 5) return {digits(second)};
      if constexpr (R == 6) return {digits(detail::times_power_of_3<2>(second))};
      if constexpr (R == 7) return {digits(last)};
    }

    __m256 d;
    __m256i first;   ///< 32 bytes with the digits of runs 0-4
    __m256i second;  ///< 16 bytes, and the same tripled: run 5, and run 6 when tripled twice more
    __m256i last;    ///< run 7

   private:
    static __m256i digits(__m256i bytes) noexcept {
      const __m256i one = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(85 - 128));
      const __m256i two = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(170 - 128));
      return _mm256_sub_epi8(_mm256_sub_epi8(_mm256_setzero_si256(), one), two);
    }
  };
};

}  // namespace lazymoe::quant

#endif
