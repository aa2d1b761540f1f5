#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/iq3_s.hpp"
#include "../formats/iq3_xxs.hpp"
#include "codebook.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

/// IQ3_XXS: scales are odd integers, so d is a quarter of what the file says.
template <simd::Avx2Arch Arch>
struct BlockDot<IQ3_XXS, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsOfEight;

  struct Weights {
    explicit Weights(const IQ3_XXS::Block& of) noexcept : Weights(of, simd::avx2::load32(of.signs_scale.data())) {}

    [[nodiscard]] __m256 unit() const noexcept { return d; }

    template <std::size_t G>
    [[nodiscard]] LAZYMOE_INLINE detail::CodebookRun<32 * G> step() const noexcept {
      const __m256i entries = detail::eight_entries(
          iq3_xxs_grid.data(), [&](std::size_t k) LAZYMOE_INLINE { return block.index[8 * G + k]; });
      return {signs.template signs<G>(), entries, simd::avx2::spread_word<G>(scales)};
    }

    const IQ3_XXS::Block& block;
    __m256 d;
    detail::BytesOfEights signs;
    __m256i scales;

   private:
    Weights(const IQ3_XXS::Block& of, __m256i packed) noexcept
        : block(of),
          d(_mm256_set1_ps(0.25F * to_float(of.d))),
          signs(detail::even_signs(detail::four_times_seven(packed))),
          scales(detail::scales_on_top(packed)) {}
  };
};

/// IQ3_S: the signs lie ready in the block, and so does d, since its scales are odd integers in the file too.
template <simd::Avx2Arch Arch>
struct BlockDot<IQ3_S, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsOfEight;

  struct Weights {
    explicit Weights(const IQ3_S::Block& of) noexcept
        : block(of), d(_mm256_set1_ps(to_float(of.d))), signs(simd::avx2::load32(of.signs.data())) {
      const auto nibbles = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(of.scales.data()));
      scales = simd::avx2::twice(_mm_cvtepu8_epi16(detail::scales_of_nibbles(nibbles)));
    }

    [[nodiscard]] __m256 unit() const noexcept { return d; }

    template <std::size_t G>
    [[nodiscard]] LAZYMOE_INLINE detail::CodebookRun<32 * G> step() const noexcept {
      const __m256i entries = detail::eight_entries(
          iq3_s_grid.data(), [&](std::size_t k) LAZYMOE_INLINE { return IQ3_S::index(block, 8 * G + k); });
      return {signs.template signs<G>(), entries, simd::avx2::spread_word<G>(scales)};
    }

    const IQ3_S::Block& block;
    __m256 d;
    detail::BytesOfEights signs;
    __m256i scales;
  };
};

}  // namespace lazymoe::quant

#endif
