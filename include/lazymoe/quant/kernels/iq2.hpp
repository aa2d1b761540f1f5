#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/iq2_s.hpp"
#include "../formats/iq2_xs.hpp"
#include "../formats/iq2_xxs.hpp"
#include "codebook.hpp"
#include "q6_k.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// What the three IQ2 formats share: scales are odd integers, so d is an eighth of what the file says.
template <BlockFormat F>
struct Iq2Weights {
  explicit Iq2Weights(const typename F::Block& of) noexcept : d(_mm256_set1_ps(0.125F * to_float(of.d))) {}

  [[nodiscard]] __m256 unit() const noexcept { return d; }

  __m256 d;
};

}  // namespace detail

/// IQ2_XXS: the signs of all groups are unpacked together.
template <simd::Avx2Arch Arch>
struct BlockDot<IQ2_XXS, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsOfEight;

  struct Weights : detail::Iq2Weights<IQ2_XXS> {
    explicit Weights(const IQ2_XXS::Block& of) noexcept : Weights(of, signs_and_scales(of)) {}

    template <std::size_t G>
    [[nodiscard]] LAZYMOE_INLINE detail::CodebookRun<32 * G> step() const noexcept {
      const __m256i entries = detail::four_entries(
          iq2_xxs_grid.data(), [&](std::size_t l) LAZYMOE_INLINE { return block.group[G].index[l]; });
      return {signs.template signs<G>(), entries, simd::avx2::spread_word<G>(scales)};
    }

    const IQ2_XXS::Block& block;
    detail::BytesOfEights signs;
    __m256i scales;

   private:
    Weights(const IQ2_XXS::Block& of, __m256i packed) noexcept
        : detail::Iq2Weights<IQ2_XXS>(of),
          block(of),
          signs(detail::even_signs(detail::four_times_seven(packed))),
          scales(detail::scales_on_top(packed)) {}

    /// The second half of every group.
    static __m256i signs_and_scales(const IQ2_XXS::Block& of) noexcept {
      const __m256 first = _mm256_castsi256_ps(simd::avx2::load32(of.group.data()));
      const __m256 last = _mm256_castsi256_ps(simd::avx2::load32(of.group.data() + 4));
      return _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(first, last, 0xDD)), 0xD8);
    }
  };
};

/// IQ2_XS: the signs of two vectors of words are packed into one of bytes.
template <simd::Avx2Arch Arch>
struct BlockDot<IQ2_XS, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsOfEight;

  struct Weights : detail::Iq2Weights<IQ2_XS> {
    explicit Weights(const IQ2_XS::Block& of) noexcept
        : detail::Iq2Weights<IQ2_XS>(of),
          block(of),
          signs(unpack_signs(of)),
          groups(
              detail::scales_of_nibbles(load_as<std::uint64_t>(reinterpret_cast<const std::byte*>(of.scales.data())))) {
    }

    template <std::size_t G>
    [[nodiscard]] LAZYMOE_INLINE detail::CodebookRun<32 * G> step() const noexcept {
      const __m256i entries = detail::four_entries(
          iq2_xs_grid.data(), [&](std::size_t l) LAZYMOE_INLINE { return IQ2_XS::index(block, 4 * G + l); });
      return {signs.template signs<G>(), entries, groups.template scale<G>()};
    }

    const IQ2_XS::Block& block;
    detail::BytesOfEights signs;
    detail::HalfGroupVectors groups;

   private:
    static detail::BytesOfEights unpack_signs(const IQ2_XS::Block& of) noexcept {
      const __m256i first = _mm256_srli_epi16(simd::avx2::load32(of.index_signs.data()), 9);
      const __m256i last = _mm256_srli_epi16(simd::avx2::load32(of.index_signs.data() + 16), 9);
      const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(first, last), 0xD8);
      return detail::BytesOfEights(detail::even_signs(bytes));
    }
  };
};

/// IQ2_S: the signs lie ready in the block.
template <simd::Avx2Arch Arch>
struct BlockDot<IQ2_S, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsOfEight;

  struct Weights : detail::Iq2Weights<IQ2_S> {
    explicit Weights(const IQ2_S::Block& of) noexcept
        : detail::Iq2Weights<IQ2_S>(of),
          block(of),
          signs(simd::avx2::load32(of.signs.data())),
          groups(
              detail::scales_of_nibbles(load_as<std::uint64_t>(reinterpret_cast<const std::byte*>(of.scales.data())))) {
    }

    template <std::size_t G>
    [[nodiscard]] LAZYMOE_INLINE detail::CodebookRun<32 * G> step() const noexcept {
      const __m256i entries = detail::four_entries(
          iq2_s_grid.data(), [&](std::size_t l) LAZYMOE_INLINE { return IQ2_S::index(block, 4 * G + l); });
      return {signs.template signs<G>(), entries, groups.template scale<G>()};
    }

    const IQ2_S::Block& block;
    detail::BytesOfEights signs;
    detail::HalfGroupVectors groups;
  };
};

}  // namespace lazymoe::quant

#endif
