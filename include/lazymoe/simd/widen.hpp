#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "arch.hpp"

// For functions and lambdas whose arguments are registers: a call would send them through memory.
#define LAZYMOE_INLINE __attribute__((always_inline))

namespace lazymoe::simd {

/// Calls fn(integral_constant<0>) .. fn(integral_constant<N - 1>), so that shifts and offsets are constants.
template <std::size_t N, class Fn>
LAZYMOE_INLINE constexpr void unroll(Fn&& fn) {
  [&]<std::size_t... I>(std::index_sequence<I...>) LAZYMOE_INLINE {
    (fn(std::integral_constant<std::size_t, I>{}), ...);
  }
  (std::make_index_sequence<N>{});
}

#if defined(__AVX2__)

/// Exact steps from packed integers to sums of products, 32 bytes at a time. Loads take any address.
namespace avx2 {

/// Whether one instruction adds sums of four products of bytes to int32.
#if (defined(__AVX512VNNI__) && defined(__AVX512VL__)) || defined(__AVXVNNI__)
inline constexpr bool has_vnni = true;
#else
inline constexpr bool has_vnni = false;
#endif

/// Has `v` computed here, in a register. Compilers that see several chains of sums unrolled may otherwise compute all
/// products first and keep them in memory.
LAZYMOE_INLINE inline void keep_in_register(__m256i& v) noexcept { asm("" : "+x"(v)); }

/// The number in all lanes. Hidden from compilers that would multiply two of these as scalars: a number that comes from
/// memory spreads for free, and a product costs a shuffle.
[[nodiscard]] LAZYMOE_INLINE inline __m256 all_lanes(float number) noexcept {
  __m256 all = _mm256_set1_ps(number);
  asm("" : "+x"(all));
  return all;
}

#if defined(__F16C__)
/// The half with these bits in all lanes, as floats.
[[nodiscard]] LAZYMOE_INLINE inline __m256 all_lanes_of_half(std::uint16_t half) noexcept {
  __m256 all = _mm256_cvtph_ps(_mm_set1_epi16(static_cast<short>(half)));
  asm("" : "+x"(all));
  return all;
}
#endif

[[nodiscard]] inline __m256i load32(const void* from) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
[[nodiscard]] inline __m128i load16(const void* from) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

/// The same 16 bytes in both halves.
[[nodiscard]] inline __m256i twice(__m128i half) noexcept { return _mm256_broadcastsi128_si256(half); }

/// Bits [Shift, Shift + 8) of every 16-bit lane's bytes, kept where `mask` has ones: a byte shift whose
/// stray bits from the neighbour the mask must drop. Negative shifts go left.
template <int Shift>
[[nodiscard]] inline __m256i shift_and(__m256i bytes, int mask) noexcept {
  const __m256i kept = _mm256_set1_epi8(static_cast<char>(mask));
  if constexpr (Shift > 0) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, Shift), kept);
  } else if constexpr (Shift < 0) {
    return _mm256_and_si256(_mm256_slli_epi16(bytes, -Shift), kept);
  } else {
    return _mm256_and_si256(bytes, kept);
  }
}

/// 32 nibbles of 16 bytes, in the order of the 32-element formats: low nibbles, then high ones.
[[nodiscard]] inline __m256i split_nibbles(const void* from) noexcept {
  const __m256i both = _mm256_srlv_epi64(twice(load16(from)), _mm256_setr_epi64x(0, 0, 4, 4));
  return _mm256_and_si256(both, _mm256_set1_epi8(15));
}

/// Byte i is 0xFF where bit i is clear and 0 where it is set.
[[nodiscard]] inline __m256i bytes_of_clear_bits(std::uint32_t bits) noexcept {
  const __m256i spread = _mm256_shuffle_epi8(
      _mm256_set1_epi32(static_cast<int>(bits)),
      _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0x0000000000000000));
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
  return _mm256_cmpeq_epi8(_mm256_andnot_si256(spread, bit), bit);
}

/// table[index] for 32 indices below 16.
[[nodiscard]] inline __m256i lookup(const std::int8_t* table16, __m256i index) noexcept {
  return _mm256_shuffle_epi8(twice(load16(table16)), index);
}

/// 16-bit lane I of each half, in all lanes of that half.
template <std::size_t I>
[[nodiscard]] inline __m256i spread_word(__m256i words) noexcept {
  static_assert(I < 8);
  return _mm256_shuffle_epi8(words, _mm256_set1_epi16(static_cast<short>(0x0100 + 0x0202 * I)));
}

/// Neighbouring pairs of u * s summed in int16.
/// @pre no pair exceeds int16: 2 * 128 * 127 does not
[[nodiscard]] inline __m256i pair_sums(__m256i u8, __m256i s8) noexcept { return _mm256_maddubs_epi16(u8, s8); }

/// Neighbouring pairs of int16 products summed in int32.
[[nodiscard]] inline __m256i scaled_sums(__m256i s16, __m256i scale16) noexcept {
  return _mm256_madd_epi16(s16, scale16);
}

/// so_far + scaled_sums(s16, scale16), in one step where there is one.
[[nodiscard]] inline __m256i add_scaled_sums(__m256i so_far, __m256i s16, __m256i scale16) noexcept {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
  return _mm256_dpwssd_epi32(so_far, s16, scale16);
#elif defined(__AVXVNNI__)
  return _mm256_dpwssd_avx_epi32(so_far, s16, scale16);
#else
  return _mm256_add_epi32(so_far, scaled_sums(s16, scale16));
#endif
}

/// so_far + sums of four neighbouring products, unsigned by signed.
/// @pre as pair_sums()
[[nodiscard]] inline __m256i add_quad_sums_unsigned(__m256i so_far, __m256i u8, __m256i s8) noexcept {
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
  return _mm256_dpbusd_epi32(so_far, u8, s8);
#elif defined(__AVXVNNI__)
  return _mm256_dpbusd_avx_epi32(so_far, u8, s8);
#else
  return _mm256_add_epi32(so_far, scaled_sums(pair_sums(u8, s8), _mm256_set1_epi16(1)));
#endif
}

/// Sums of four neighbouring products, unsigned by signed.
/// @pre as pair_sums()
[[nodiscard]] inline __m256i quad_sums_unsigned(__m256i u8, __m256i s8) noexcept {
  if constexpr (has_vnni) return add_quad_sums_unsigned(_mm256_setzero_si256(), u8, s8);
  return scaled_sums(pair_sums(u8, s8), _mm256_set1_epi16(1));
}

/// Neighbouring pairs of signed products summed in int16: the sign of w moves to y.
/// @pre y > -128
[[nodiscard]] inline __m256i pair_sums_signed(__m256i w8, __m256i y8) noexcept {
  return pair_sums(_mm256_abs_epi8(w8), _mm256_sign_epi8(y8, w8));
}

/// Sums of four neighbouring products, signed by signed.
/// @pre y > -128
[[nodiscard]] inline __m256i quad_sums_signed(__m256i w8, __m256i y8) noexcept {
  return quad_sums_unsigned(_mm256_abs_epi8(w8), _mm256_sign_epi8(y8, w8));
}

[[nodiscard]] inline __m256 fma(__m256 a, __m256 b, __m256 c) noexcept {
#if defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return _mm256_add_ps(_mm256_mul_ps(a, b), c);
#endif
}

[[nodiscard]] inline __m128 fma(__m128 a, __m128 b, __m128 c) noexcept {
#if defined(__FMA__)
  return _mm_fmadd_ps(a, b, c);
#else
  return _mm_add_ps(_mm_mul_ps(a, b), c);
#endif
}

/// total + factor * counts, lane by lane.
[[nodiscard]] inline __m256 add_scaled(__m256 total, float factor, __m256i counts) noexcept {
  return fma(_mm256_set1_ps(factor), _mm256_cvtepi32_ps(counts), total);
}

/// Sum of the lanes: halves, then neighbours.
[[nodiscard]] inline float sum(__m128 v) noexcept {
  const __m128 two = _mm_add_ps(v, _mm_movehl_ps(v, v));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// Sum of the lanes: halves, then quarters, then neighbours.
[[nodiscard]] inline float sum(__m256 v) noexcept {
  return sum(_mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)));
}

/// Sum of the lanes: halves, then neighbours twice.
[[nodiscard]] inline float sum_of_neighbours(__m256 v) noexcept {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_hadd_ps(four, four);
  return _mm_cvtss_f32(_mm_hadd_ps(two, two));
}

}  // namespace avx2

#endif

}  // namespace lazymoe::simd
