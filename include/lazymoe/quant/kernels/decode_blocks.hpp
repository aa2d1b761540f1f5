#pragma once

#include <cstddef>
#include <span>

#include "../../simd/widen.hpp"
#include "blocks_of_32.hpp"
#include "fetch_ahead.hpp"
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

/// What formats with minimums multiply codes with, and subtract, for each of their groups.
template <std::size_t Groups>
struct GroupFactors {
  explicit GroupFactors(const Q2_K::Block& of) noexcept {
    const __m128i both = simd::avx2::load16(of.scales.data());
    const __m128i low4 = _mm_set1_epi8(15);
    const __m128i scale_bytes = _mm_and_si128(both, low4);
    const __m128i min_bytes = _mm_and_si128(_mm_srli_epi16(both, 4), low4);
    set<0>(of, scale_bytes, min_bytes);
    set<8>(of, _mm_unpackhi_epi64(scale_bytes, scale_bytes), _mm_unpackhi_epi64(min_bytes, min_bytes));
  }

  template <class Block>
  explicit GroupFactors(const Block& of) noexcept {
    const ScalesAndMins bytes(of);
    set<0>(of, bytes.scales, bytes.mins);
  }

  alignas(32) std::array<float, Groups> scale;
  alignas(32) std::array<float, Groups> minus_min;

 private:
  template <std::size_t From>
  void set(const auto& of, __m128i scale_bytes, __m128i min_bytes) noexcept {
    const __m256 minus_dmin = _mm256_xor_ps(all_lanes(of.dmin), _mm256_set1_ps(-0.0F));
    _mm256_store_ps(scale.data() + From, _mm256_mul_ps(all_lanes(of.d), floats_of(scale_bytes)));
    _mm256_store_ps(minus_min.data() + From, _mm256_mul_ps(minus_dmin, floats_of(min_bytes)));
  }
};

/// Formats with minimums: out = d * scale * q - dmin * min. `step<S>(block)` is 32 codes as bytes.
template <BlockFormat F, class Step>
void decode_with_mins(std::span<const typename F::Block> row, float* out, Step&& step) noexcept {
  each_block(row, [&](const auto& block) LAZYMOE_INLINE {
    const GroupFactors<F::groups> factors(block);
    simd::unroll<8>([&](auto s) LAZYMOE_INLINE {
      const __m256i bytes = step(block, s);
      const auto write = [&](__m128i half, std::size_t group, float* to) LAZYMOE_INLINE {
        const __m256 scale = _mm256_set1_ps(factors.scale[group]);
        const __m256 minus_min = _mm256_set1_ps(factors.minus_min[group]);
        write16(half, to, [&](__m256 q) LAZYMOE_INLINE { return simd::avx2::fma(scale, q, minus_min); });
      };
      write(_mm256_castsi256_si128(bytes), s * F::groups / 8, out);
      write(_mm256_extracti128_si256(bytes, 1), (2 * s + 1) * F::groups / 16, out + 16);
      out += 32;
    });
  });
}

/// Formats whose steps are kept unsigned: Excess too large.
template <BlockFormat F, class Arch, int Excess>
struct DecodeWithExcess {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    detail::each_block(row, [&](const auto& block) LAZYMOE_INLINE {
      const typename BlockDot<F, Arch>::Weights w(block);
      simd::unroll<8>([&](auto s) LAZYMOE_INLINE {
        const auto step = w.template step<s>();
        const __m256i bytes = _mm256_sub_epi8(step.weights, _mm256_set1_epi8(Excess));
        write32(bytes, first_factor(w.d, step.scale), second_factor(w.d, step.scale), out);
        out += 32;
      });
    });
  }
};

}  // namespace detail

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q2_K, Arch> {
  static void run(std::span<const Q2_K::Block> row, float* out) noexcept {
    detail::decode_with_mins<Q2_K>(row, out, [](const Q2_K::Block& block, auto s) LAZYMOE_INLINE {
      return simd::avx2::shift_and<2 * (s % 4)>(simd::avx2::load32(block.q.data() + 32 * (s / 4)), 3);
    });
  }
};

/// Q4_K. Both nibbles of a byte are widened at once: they belong to neighbouring groups.
template <simd::Avx2Arch Arch>
struct DecodeKernel<Q4_K, Arch> {
  static void run(std::span<const Q4_K::Block> row, float* out) noexcept {
    detail::each_block(row, [&](const auto& block) LAZYMOE_INLINE {
      const detail::GroupFactors<8> factors(block);
      simd::unroll<4>([&](auto pair) LAZYMOE_INLINE {
        const __m256 low_scale = _mm256_set1_ps(factors.scale[2 * pair]);
        const __m256 high_scale = _mm256_set1_ps(factors.scale[2 * pair + 1]);
        const __m256 low_min = _mm256_set1_ps(factors.minus_min[2 * pair]);
        const __m256 high_min = _mm256_set1_ps(factors.minus_min[2 * pair + 1]);
        simd::unroll<4>([&](auto eighth) LAZYMOE_INLINE {
          const auto* from = reinterpret_cast<const __m128i*>(block.q.data() + 32 * pair + 8 * eighth);
          const __m256i both = _mm256_cvtepu8_epi32(_mm_loadl_epi64(from));
          const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(both, _mm256_set1_epi32(15)));
          const __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(both, 4));
          _mm256_storeu_ps(out + 8 * eighth, simd::avx2::fma(low_scale, low, low_min));
          _mm256_storeu_ps(out + 32 + 8 * eighth, simd::avx2::fma(high_scale, high, high_min));
        });
        out += 64;
      });
    });
  }
};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q5_K, Arch> {
  static void run(std::span<const Q5_K::Block> row, float* out) noexcept {
    detail::decode_with_mins<Q5_K>(row, out, [](const Q5_K::Block& block, auto s) LAZYMOE_INLINE {
      return detail::GroupBytes<Q5_K>::unpack<s>(block);
    });
  }
};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q3_K, Arch> : detail::DecodeWithExcess<Q3_K, Arch, 4> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q6_K, Arch> : detail::DecodeWithExcess<Q6_K, Arch, 32> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<IQ4_XS, Arch> {
  static void run(std::span<const IQ4_XS::Block> row, float* out) noexcept {
    detail::each_block(row, [&](const auto& block) LAZYMOE_INLINE {
      const typename BlockDot<IQ4_XS, Arch>::Weights w(block);
      simd::unroll<8>([&](auto s) LAZYMOE_INLINE {
        const auto step = w.template step<s>();
        const __m256 factor = detail::first_factor(w.d, step.scale);
        detail::write32(step.signs, factor, factor, out);
        out += 32;
      });
    });
  }
};

/// Every format of 32-element blocks.
template <BlockFormat F, simd::Avx2Arch Arch>
requires requires(const typename F::Block& block) { detail::Bytes32<F>::unpack(block); }
struct DecodeKernel<F, Arch> {
  using Unpack = detail::Bytes32<F>;

  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    detail::each_block(row, [&](const auto& block) LAZYMOE_INLINE {
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
    });
  }
};

}  // namespace lazymoe::quant

#endif
