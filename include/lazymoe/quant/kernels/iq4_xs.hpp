#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/iq4_xs.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// The 8 scales of an IQ4_XS block in the 16-bit lanes of both halves, see IQ4_XS::group_scale().
[[nodiscard]] inline __m256i unpack_scales(const IQ4_XS::Block& block) noexcept {
  const auto low_bits = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(block.scales_low.data()));
  const auto high_bits = load_as<std::uint16_t>(reinterpret_cast<const std::byte*>(block.scales_high.data()));
  const __m128i nibbles = _mm_cvtsi32_si128(static_cast<int>(low_bits));
  const __m128i pairs = _mm_unpacklo_epi8(nibbles, _mm_srli_epi16(nibbles, 4));
  const __m128i low = _mm_cvtepu8_epi16(_mm_and_si128(pairs, _mm_set1_epi8(15)));
  // A product shifts the two bits of each group to the top of its lane: shifts by lane do not exist.
  const __m128i to_top = _mm_setr_epi16(1 << 14, 1 << 12, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 1 << 2, 1);
  const __m128i top = _mm_mullo_epi16(_mm_set1_epi16(static_cast<short>(high_bits)), to_top);
  const __m128i high = _mm_slli_epi16(_mm_srli_epi16(top, 14), 4);
  return simd::avx2::twice(_mm_sub_epi16(_mm_or_si128(low, high), _mm_set1_epi16(32)));
}

}  // namespace detail

/// IQ4_XS: a byte shuffle looks the weights up; their sign moves to the activation.
template <simd::Avx2Arch Arch>
struct IntDotKernel<IQ4_XS, Arch> {
  static float run(std::span<const IQ4_XS::Block> row, const Q8_K::Block* y) noexcept {
    using namespace simd::avx2;
    __m256 total = _mm256_setzero_ps();
    for (const auto& block : row) {
      const __m256i scales = detail::unpack_scales(block);
      __m256i sums = _mm256_setzero_si256();
      simd::unroll<8>([&](auto index) {
        constexpr std::size_t g = index;
        const __m256i w = lookup(iq4_values.data(), split_nibbles(block.q.data() + 16 * g));
        const __m256i pairs = pair_sums_signed(w, load32(y->q.data() + 32 * g));
        sums = _mm256_add_epi32(sums, scaled_sums(pairs, spread_word<g>(scales)));
      });
      total = add_scaled(total, y->d * to_float(block.d), sums);
      ++y;
    }
    return sum(total);
  }
};

}  // namespace lazymoe::quant

#endif
