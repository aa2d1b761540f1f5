#pragma once

#include <cstdint>
#include <cstring>

#if defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <immintrin.h>
#endif

namespace lazymoe::simd {

/// Four int32, on any instruction set: arithmetic is the compiler's.
using Quad [[gnu::vector_size(16)]] = std::int32_t;

/// Adds the products of 16 signed bytes, exactly, spread over the four sums as suits the instruction set.
/// @pre the sums stay within int32
[[nodiscard]] inline Quad add_products(Quad sums, const std::int8_t* a, const std::int8_t* b) noexcept {
#if defined(__ARM_NEON) && defined(__aarch64__)
  const int8x16_t x = vld1q_s8(a);
  const int8x16_t y = vld1q_s8(b);
#if defined(__ARM_FEATURE_DOTPROD)
  return (Quad)vdotq_s32((int32x4_t)sums, x, y);
#else
  const int16x8_t low = vmull_s8(vget_low_s8(x), vget_low_s8(y));
  return (Quad)vpadalq_s16(vpadalq_s16((int32x4_t)sums, low), vmull_high_s8(x, y));
#endif
#elif defined(__SSE2__)
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
  const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  const __m128i x_signs = _mm_cmpgt_epi8(_mm_setzero_si128(), x);
  const __m128i y_signs = _mm_cmpgt_epi8(_mm_setzero_si128(), y);
  const __m128i low = _mm_madd_epi16(_mm_unpacklo_epi8(x, x_signs), _mm_unpacklo_epi8(y, y_signs));
  const __m128i high = _mm_madd_epi16(_mm_unpackhi_epi8(x, x_signs), _mm_unpackhi_epi8(y, y_signs));
  return sums + (Quad)low + (Quad)high;
#else
  for (int i = 0; i < 16; ++i) sums[i % 4] += std::int32_t{a[i]} * b[i];
  return sums;
#endif
}

[[nodiscard]] inline std::int32_t sum(Quad sums) noexcept { return sums[0] + sums[1] + sums[2] + sums[3]; }

}  // namespace lazymoe::simd
