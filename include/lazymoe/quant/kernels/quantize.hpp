#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "../../simd/widen.hpp"
#include "../activation_block.hpp"

namespace lazymoe::quant {

/// Kernel of quantize() for one kind of activation on one ISA. The primary template is the reference; a
/// specialisation gives the same bytes for finite numbers.
template <ActivationKind Kind, class Arch>
struct QuantizeKernel {
  static void run(std::span<const float> x, typename ActivationTraits<Kind>::Block* out) noexcept {
    using Traits = ActivationTraits<Kind>;
    constexpr std::size_t n = Traits::block_elems;
    const std::span row(out, x.size() / n);
    for (std::size_t b = 0; b < row.size(); ++b) {
      Traits::quantize(std::span<const float, n>(x.data() + b * n, n), row[b]);
    }
    if constexpr (requires { Traits::link(row); }) Traits::link(row);
  }
};

template <class Arch>
struct QuantizeKernel<ActivationKind::f32, Arch> {
  static void run(std::span<const float> x, float* out) noexcept { std::ranges::copy(x, out); }
};

#if defined(__AVX2__)

namespace detail {

[[nodiscard]] inline __m256 magnitude(__m256 v) noexcept { return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), v); }

/// The largest of v and the lanes of `so_far`; NaN in v is passed over.
[[nodiscard]] inline __m256 larger(__m256 v, __m256 so_far) noexcept { return _mm256_max_ps(v, so_far); }

[[nodiscard]] inline float largest_lane(__m256 v) noexcept {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/// 32 products x * factor, each rounded to nearest even and clamped to int8.
[[nodiscard]] inline __m256i round_to_bytes(const float* x, __m256 factor) noexcept {
  const auto rounded = [&](std::size_t i) {
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), factor));
  };
  // The packs interleave 16-byte halves; the permutation puts them in order again.
  const __m256i words01 = _mm256_packs_epi32(rounded(0), rounded(1));
  const __m256i words23 = _mm256_packs_epi32(rounded(2), rounded(3));
  const __m256i bytes = _mm256_packs_epi16(words01, words23);
  return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/// Sums of four neighbouring bytes.
[[nodiscard]] inline __m256i quad_sums(__m256i bytes) noexcept {
  return simd::avx2::quad_sums_unsigned(_mm256_set1_epi8(1), bytes);
}

struct RoundedBlock {
  __m256i q;
  float d;  ///< not yet rounded to half
};

/// The common part of q8_0 and q8_1.
[[nodiscard]] inline RoundedBlock round_block(const float* x) noexcept {
  __m256 largest = magnitude(_mm256_loadu_ps(x));
  for (std::size_t i = 8; i < 32; i += 8) largest = larger(magnitude(_mm256_loadu_ps(x + i)), largest);
  const float amax = largest_lane(largest);
  const float inverse = amax != 0.0F ? 127.0F / amax : 0.0F;
  return {.q = round_to_bytes(x, _mm256_set1_ps(inverse)), .d = amax / 127.0F};
}

inline void store32(void* to, __m256i v) noexcept { _mm256_storeu_si256(static_cast<__m256i*>(to), v); }

}  // namespace detail

template <simd::Avx2Arch Arch>
struct QuantizeKernel<ActivationKind::q8_0, Arch> {
  static void run(std::span<const float> x, ActivationQ8_0* out) noexcept {
    const std::span row(out, x.size() / 32);
    for (std::size_t b = 0; b < row.size(); ++b) {
      const auto block = detail::round_block(x.data() + 32 * b);
      row[b].d = to_float(to_half(block.d));
      detail::store32(row[b].q.data(), block.q);
    }
    ActivationTraits<ActivationKind::q8_0>::link(row);
  }
};

template <simd::Avx2Arch Arch>
struct QuantizeKernel<ActivationKind::q8_1, Arch> {
  static void run(std::span<const float> x, ActivationQ8_1* out) noexcept {
    for (std::size_t i = 0; i < x.size(); i += 32, ++out) {
      const auto block = detail::round_block(x.data() + i);
      const __m256i fours = detail::quad_sums(block.q);
      __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
      sum = _mm_add_epi32(sum, _mm_unpackhi_epi64(sum, sum));
      sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 1));
      out->d = to_float(to_half(block.d));
      out->s = to_float(to_half(block.d * static_cast<float>(_mm_cvtsi128_si32(sum))));
      detail::store32(out->q.data(), block.q);
    }
  }
};

template <simd::Avx2Arch Arch>
struct QuantizeKernel<ActivationKind::q8_K, Arch> {
  static void run(std::span<const float> x, ActivationQ8_K* out) noexcept {
    for (std::size_t i = 0; i < x.size(); i += 256, ++out) run_block(x.data() + i, *out);
  }

 private:
  static void run_block(const float* x, ActivationQ8_K& out) noexcept {
    // Two partial maxima of either sign: the magnitude alone would lose the sign of the largest.
    const __m256 minus = _mm256_set1_ps(-0.0F);
    __m256 above = _mm256_setzero_ps();
    __m256 below = _mm256_setzero_ps();
    for (std::size_t i = 0; i < 256; i += 8) {
      const __m256 v = _mm256_loadu_ps(x + i);
      above = detail::larger(v, above);
      below = detail::larger(_mm256_xor_ps(v, minus), below);
    }
    const float top = detail::largest_lane(above);
    const float bottom = detail::largest_lane(below);
    float largest = top > bottom ? top : -bottom;
    if (top == bottom) {
      if (top == 0.0F) {
        out = {};
        return;
      }
      largest = *std::find_if(x, x + 256, [=](float v) { return std::fabs(v) == top; });
    }
    const float inverse = -127.0F / largest;
    out.d = 1.0F / inverse;
    const __m256 factor = _mm256_set1_ps(inverse);
    for (std::size_t i = 0; i < 4; ++i) {
      const __m256i q0 = detail::round_to_bytes(x + 64 * i, factor);
      const __m256i q1 = detail::round_to_bytes(x + 64 * i + 32, factor);
      detail::store32(out.q.data() + 64 * i, q0);
      detail::store32(out.q.data() + 64 * i + 32, q1);
      // Sums of 4 become sums of 8 [q0 q1 | q0 q1], then of 16 in the low dwords of each half: q0 q1 | q0 q1.
      const __m256i eights = _mm256_hadd_epi32(detail::quad_sums(q0), detail::quad_sums(q1));
      const __m256i sixteens = _mm256_hadd_epi32(eights, eights);
      const __m128i words = _mm_packs_epi32(
          _mm_unpacklo_epi32(_mm256_castsi256_si128(sixteens), _mm256_extracti128_si256(sixteens, 1)),
          _mm_setzero_si128());
      _mm_storel_epi64(reinterpret_cast<__m128i*>(out.sums.data() + 4 * i), words);
    }
    const __m256i sums = simd::avx2::load32(out.sums.data());
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out.sums_of_32.data()),
                     _mm_hadd_epi16(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1)));
  }
};

#if defined(__F16C__)
template <simd::Avx2Arch Arch>
struct QuantizeKernel<ActivationKind::f16, Arch> {
  static void run(std::span<const float> x, float* out) noexcept {
    const std::size_t whole = x.size() / 8 * 8;
    for (std::size_t i = 0; i < whole; i += 8) {
      _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm256_cvtps_ph(_mm256_loadu_ps(x.data() + i), 0)));
    }
    for (std::size_t i = whole; i < x.size(); ++i) out[i] = to_float(to_half(x[i]));
  }
};
#endif

#endif

}  // namespace lazymoe::quant
