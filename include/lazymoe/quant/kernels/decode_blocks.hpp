#pragma once

#include <cstddef>
#include <span>

#include "../../simd/widen.hpp"
#include "blocks_of_32.hpp"
#include "iq4_xs.hpp"
#include "q2_k.hpp"
#include "q3_k.hpp"
#include "q4_k.hpp"
#include "q5_k.hpp"
#include "q6_k.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

// Decoding by the steps of the dot products: their bytes, times scales. Scale times byte is exact in a float for every
// format (law 2 of BlockFormat), so a fused product and sum gives the bits of the scalar decoders.
namespace lazymoe::quant {

namespace detail {

/// 8 signed bytes as floats.
[[nodiscard]] LAZYMOE_INLINE inline __m256 floats_of(__m128i bytes) noexcept {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
}

/// The first 8 of int16 lanes as floats.
[[nodiscard]] LAZYMOE_INLINE inline __m256 floats_of_words(__m128i words) noexcept {
  return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(words));
}

/// out[i] = map(float(bytes[i])) for 16 signed bytes, eight at a time.
template <class Map>
LAZYMOE_INLINE inline void write16(__m128i bytes, float* out, Map&& map) noexcept {
  _mm256_storeu_ps(out, map(floats_of(bytes)));
  _mm256_storeu_ps(out + 8, map(floats_of(_mm_unpackhi_epi64(bytes, bytes))));
}

/// 32 signed bytes, each half times a factor of its own.
LAZYMOE_INLINE inline void write32(__m256i bytes, __m256 first, __m256 second, float* out) noexcept {
  write16(_mm256_castsi256_si128(bytes), out, [&](__m256 q) LAZYMOE_INLINE { return _mm256_mul_ps(first, q); });
  write16(_mm256_extracti128_si256(bytes, 1), out + 16,
          [&](__m256 q) LAZYMOE_INLINE { return _mm256_mul_ps(second, q); });
}

/// d times the scale of a step's lower or upper half.
LAZYMOE_INLINE inline __m256 first_factor(__m256 d, __m256i scale16) noexcept {
  return _mm256_mul_ps(d, floats_of_words(_mm256_castsi256_si128(scale16)));
}
LAZYMOE_INLINE inline __m256 second_factor(__m256 d, __m256i scale16) noexcept {
  return _mm256_mul_ps(d, floats_of_words(_mm256_extracti128_si256(scale16, 1)));
}

/// Formats with minimums: out = d * scale * q - dmin * min.
template <BlockFormat F, class Arch>
struct DecodeWithMins {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    for (const auto& block : row) {
      const typename BlockDot<F, Arch>::Weights w(block);
      simd::unroll<8>([&](auto s) LAZYMOE_INLINE {
        const auto step = w.template step<s>();
        const __m256 factor = first_factor(w.d, step.scale);
        const __m256 minus_min = minus_min_of<2 * s>(w);
        write16(_mm256_castsi256_si128(step.weights), factor, minus_min, out);
        const __m128i second = _mm256_extracti128_si256(step.weights, 1);
        if constexpr (F::groups == 8) {
          write16(second, factor, minus_min, out + 16);
        } else {
          write16(second, second_factor(w.d, step.scale), minus_min_of<2 * s + 1>(w), out + 16);
        }
        out += 32;
      });
    }
  }

 protected:
  /// -dmin times lane `Lane` of the 16 minimums.
  template <std::size_t Lane>
  LAZYMOE_INLINE static __m256 minus_min_of(const auto& w) noexcept {
    const __m128i mins = Lane < 8 ? _mm256_castsi256_si128(w.mins) : _mm256_extracti128_si256(w.mins, 1);
    const __m128i all = _mm_shuffle_epi8(mins, _mm_set1_epi16(static_cast<short>(0x0100 + 0x0202 * (Lane % 8))));
    return _mm256_mul_ps(w.minus_dmin, floats_of_words(all));
  }

  LAZYMOE_INLINE static void write16(__m128i bytes, __m256 factor, __m256 minus_min, float* out) noexcept {
    detail::write16(bytes, out, [&](__m256 q) LAZYMOE_INLINE { return simd::avx2::fma(factor, q, minus_min); });
  }
};

/// Q4_K. Both nibbles of a byte are widened at once: they belong to neighbouring groups.
template <class Arch>
struct DecodeNibblesWithMins : private DecodeWithMins<Q4_K, Arch> {
  static void run(std::span<const Q4_K::Block> row, float* out) noexcept {
    for (const auto& block : row) {
      const typename BlockDot<Q4_K, Arch>::Weights w(block);
      simd::unroll<4>([&](auto pair) LAZYMOE_INLINE {
        using Base = DecodeWithMins<Q4_K, Arch>;
        const __m256 low_factor = first_factor(w.d, simd::avx2::spread_word<2 * pair>(w.scales));
        const __m256 high_factor = first_factor(w.d, simd::avx2::spread_word<2 * pair + 1>(w.scales));
        const __m256 low_min = Base::template minus_min_of<4 * pair>(w);
        const __m256 high_min = Base::template minus_min_of<4 * pair + 2>(w);
        simd::unroll<4>([&](auto eighth) LAZYMOE_INLINE {
          const auto* from = reinterpret_cast<const __m128i*>(block.q.data() + 32 * pair + 8 * eighth);
          const __m256i both = _mm256_cvtepu8_epi32(_mm_loadl_epi64(from));
          const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(both, _mm256_set1_epi32(15)));
          const __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(both, 4));
          _mm256_storeu_ps(out + 8 * eighth, simd::avx2::fma(low_factor, low, low_min));
          _mm256_storeu_ps(out + 32 + 8 * eighth, simd::avx2::fma(high_factor, high, high_min));
        });
        out += 64;
      });
    }
  }
};

/// Formats whose steps are kept unsigned: Excess too large.
template <BlockFormat F, class Arch, int Excess>
struct DecodeWithExcess {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    for (const auto& block : row) {
      const typename BlockDot<F, Arch>::Weights w(block);
      simd::unroll<8>([&](auto s) LAZYMOE_INLINE {
        const auto step = w.template step<s>();
        const __m256i bytes = _mm256_sub_epi8(step.weights, _mm256_set1_epi8(Excess));
        write32(bytes, first_factor(w.d, step.scale), second_factor(w.d, step.scale), out);
        out += 32;
      });
    }
  }
};

}  // namespace detail

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q2_K, Arch> : detail::DecodeWithMins<Q2_K, Arch> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q4_K, Arch> : detail::DecodeNibblesWithMins<Arch> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q5_K, Arch> : detail::DecodeWithMins<Q5_K, Arch> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q3_K, Arch> : detail::DecodeWithExcess<Q3_K, Arch, 4> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q6_K, Arch> : detail::DecodeWithExcess<Q6_K, Arch, 32> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<IQ4_XS, Arch> {
  static void run(std::span<const IQ4_XS::Block> row, float* out) noexcept {
    for (const auto& block : row) {
      const typename BlockDot<IQ4_XS, Arch>::Weights w(block);
      simd::unroll<8>([&](auto s) LAZYMOE_INLINE {
        const auto step = w.template step<s>();
        const __m256 factor = detail::first_factor(w.d, step.scale);
        detail::write32(step.signs, factor, factor, out);
        out += 32;
      });
    }
  }
};

/// Every format of 32-element blocks.
template <BlockFormat F, simd::Avx2Arch Arch>
requires requires(const typename F::Block& block) { detail::Bytes32<F>::unpack(block); }
struct DecodeKernel<F, Arch> {
  using Unpack = detail::Bytes32<F>;

  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    for (const auto& block : row) {
      const __m256i bytes = Unpack::unpack(block);
      const __m256 d = Unpack::scale(block);
      if constexpr (detail::HasOffset<F>) {
        const __m256 offset = _mm256_set1_ps(Unpack::offset(block));
        const auto map = [&](__m256 q) LAZYMOE_INLINE { return simd::avx2::fma(d, q, offset); };
        detail::write16(_mm256_castsi256_si128(bytes), out, map);
        detail::write16(_mm256_extracti128_si256(bytes, 1), out + 16, map);
      } else {
        detail::write32(bytes, d, d, out);
      }
      out += 32;
    }
  }
};

}  // namespace lazymoe::quant

#endif
