#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../simd/widen.hpp"
#include "../formats/nvfp4.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// What each byte means as a scale of NVFP4.
inline constexpr auto ue4m3_values = [] {
  std::array<float, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = to_float(UE4M3{static_cast<std::uint8_t>(i)});
  return values;
}();

}  // namespace detail

/// NVFP4. The two groups of a run of 32 have scales of their own, one in each half of a vector; the runs of a block are
/// added one after the other, as the reference does it.
template <simd::Avx2Arch Arch>
struct BlockDot<NVFP4, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 2;

  struct Products {
    __m256i runs[steps];
  };

  template <std::size_t R>
  struct Run {
    __m256i signs;
    __m256i magnitudes;

    [[nodiscard]] Products add(Products products, const ActivationQ8_0* y) const noexcept {
      using namespace simd::avx2;
      products.runs[R] = quad_sums_unsigned(magnitudes, _mm256_sign_epi8(load32(y[R].q.data()), signs));
      return products;
    }
  };

  struct Weights {
    explicit Weights(const NVFP4::Block& of) noexcept : block(of), scales{scale<0>(), scale<1>()} {}

    template <std::size_t R>
    [[nodiscard]] Run<R> step() const noexcept {
      using namespace simd::avx2;
      const __m128i bytes = load16(block.q.data() + 16 * R);
      const __m128i low4 = _mm_set1_epi8(15);
      const __m128i low = _mm_and_si128(bytes, low4);
      const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), low4);
      // Weights 0-7 of a group are the low nibbles of its bytes, weights 8-15 their high ones.
      const __m256i nibbles = _mm256_set_m128i(_mm_unpackhi_epi64(low, high), _mm_unpacklo_epi64(low, high));
      const __m256i w = lookup(mxfp4_values.data(), nibbles);
      return {w, _mm256_abs_epi8(w)};
    }

    /// Those of groups 2R and 2R + 1.
    template <std::size_t R>
    [[nodiscard]] __m256 scale() const noexcept {
      const auto half = [&](std::size_t g) { return _mm_set1_ps(detail::ue4m3_values[block.scales[g].bits]); };
      return _mm256_set_m128(half(2 * R + 1), half(2 * R));
    }

    const NVFP4::Block& block;
    __m256 scales[steps];
  };

  struct Sums : detail::SumsOfEight {
    void add(const Weights& w, Products products, const ActivationQ8_0* y) noexcept {
      simd::unroll<steps>([&](auto r) LAZYMOE_INLINE {
        const __m256 scale = _mm256_mul_ps(w.scales[r], _mm256_set1_ps(y[r].d));
        eight = simd::avx2::fma(scale, _mm256_cvtepi32_ps(products.runs[r]), eight);
      });
    }
  };
};

}  // namespace lazymoe::quant

#endif
