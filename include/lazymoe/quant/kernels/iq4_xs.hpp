#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/iq4_xs.hpp"
#include "tile.hpp"

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
struct BlockDot<IQ4_XS, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsOfEight;

  struct Weights {
    explicit Weights(const IQ4_XS::Block& of) noexcept
        : block(of), d(detail::all_lanes(of.d)), scales(detail::unpack_scales(of)) {}

    template <std::size_t G>
    [[nodiscard]] detail::SignedRun<32 * G> step() const noexcept {
      using namespace simd::avx2;
      const __m256i w = lookup(iq4_values.data(), split_nibbles(block.q.data() + 16 * G));
      return {w, spread_word<G>(scales)};
    }

    const IQ4_XS::Block& block;
    __m256 d;
    __m256i scales;  ///< of the 8 groups, in the 16-bit lanes of both halves
  };
};

}  // namespace lazymoe::quant

#endif
