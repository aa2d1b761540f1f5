#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../../simd/widen.hpp"
#include "../formats/grids.hpp"
#include "fetch_ahead.hpp"
#include "reference.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

/// What the kernels of the codebook formats share: entries by index, signs by bit. Groups are runs of 32 weights.
namespace lazymoe::quant::detail {

/// Four entries of 8 weights: entry l is grid[index(l)].
[[nodiscard]] LAZYMOE_INLINE inline __m256i four_entries(const std::uint64_t* grid, auto index) noexcept {
  const auto entry = [=](std::size_t l) LAZYMOE_INLINE { return static_cast<long long>(grid[index(l)]); };
  return _mm256_setr_epi64x(entry(0), entry(1), entry(2), entry(3));
}

/// Eight entries of 4 weights: entry k is grid[index(k)].
[[nodiscard]] LAZYMOE_INLINE inline __m256i eight_entries(const std::uint32_t* grid, auto index) noexcept {
  const auto entry = [=](std::size_t k) LAZYMOE_INLINE { return static_cast<int>(grid[index(k)]); };
  return _mm256_setr_epi32(entry(0), entry(1), entry(2), entry(3), entry(4), entry(5), entry(6), entry(7));
}

/// even_signs() of 32 bytes below 128.
[[nodiscard]] inline __m256i even_signs(__m256i seven) noexcept {
  const char odd = static_cast<char>(0x80);
  const __m128i parity = _mm_setr_epi8(0, odd, odd, 0, odd, 0, 0, odd, odd, 0, 0, odd, 0, odd, odd, 0);
  // The parity of a byte is that of its nibbles' difference.
  const __m256i nibble = _mm256_and_si256(_mm256_xor_si256(seven, _mm256_srli_epi16(seven, 4)), _mm256_set1_epi8(15));
  return _mm256_or_si256(seven, _mm256_shuffle_epi8(simd::avx2::twice(parity), nibble));
}

/// The four fields of 7 bits of each 32-bit lane, as bytes.
[[nodiscard]] inline __m256i four_times_seven(__m256i packed) noexcept {
  const auto field = [](__m256i bits, int mask) { return _mm256_and_si256(bits, _mm256_set1_epi32(mask)); };
  const __m256i lower = _mm256_or_si256(field(packed, 0x7F), field(_mm256_slli_epi32(packed, 1), 0x7F00));
  const __m256i upper =
      _mm256_or_si256(field(_mm256_slli_epi32(packed, 2), 0x7F0000), field(_mm256_slli_epi32(packed, 3), 0x7F000000));
  return _mm256_or_si256(lower, upper);
}

/// A byte for each 8 weights of a block.
class BytesOfEights {
 public:
  explicit BytesOfEights(__m256i bytes) noexcept
      : lower_(_mm256_permute2x128_si256(bytes, bytes, 0x00)), upper_(_mm256_permute2x128_si256(bytes, bytes, 0x11)) {}

  /// The bytes of group G, each 8 times.
  template <std::size_t G>
  [[nodiscard]] LAZYMOE_INLINE __m256i spread() const noexcept {
    constexpr std::uint64_t eight = 0x0101010101010101;
    constexpr auto of = [](std::uint64_t l) { return static_cast<long long>(eight * (4 * (G % 4) + l)); };
    return _mm256_shuffle_epi8(G < 4 ? lower_ : upper_, _mm256_setr_epi64x(of(0), of(1), of(2), of(3)));
  }

  /// -1 where the bit of a weight of group G is set, 1 elsewhere: bit e of a byte is that of weight e of the 8.
  template <std::size_t G>
  [[nodiscard]] LAZYMOE_INLINE __m256i signs() const noexcept {
    const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(spread<G>(), bit), bit);
    return _mm256_or_si256(set, _mm256_set1_epi8(1));
  }

 private:
  __m256i lower_;
  __m256i upper_;
};

/// 2 * scale + 1 for the 8 groups of a block whose scales are the top 4 bits of 32-bit lanes, as scale words are.
[[nodiscard]] inline __m256i scales_on_top(__m256i packed) noexcept {
  const __m256i twice = _mm256_and_si256(_mm256_srli_epi32(packed, 27), _mm256_set1_epi32(30));
  const __m256i odd = _mm256_or_si256(twice, _mm256_set1_epi32(1));
  return simd::avx2::twice(_mm_packs_epi32(_mm256_castsi256_si128(odd), _mm256_extracti128_si256(odd, 1)));
}

/// 2 * scale + 1 as bytes for scales in 4 or 8 bytes of nibbles, low ones first.
[[nodiscard]] inline __m128i scales_of_nibbles(std::uint64_t packed) noexcept {
  const __m128i bytes = _mm_cvtsi64_si128(static_cast<long long>(packed));
  const __m128i nibbles = _mm_unpacklo_epi8(bytes, _mm_srli_epi16(bytes, 4));
  const __m128i low4 = _mm_and_si128(nibbles, _mm_set1_epi8(15));
  return _mm_or_si128(_mm_add_epi8(low4, low4), _mm_set1_epi8(1));
}

/// A run of magnitudes and signs, with a scale for each 16 weights.
template <std::size_t Offset>
struct CodebookRun : SignedRun<Offset> {
  using SignedRun<Offset>::SignedRun;

  [[nodiscard]] LAZYMOE_INLINE __m256i weights() const noexcept {
    return _mm256_sign_epi8(this->magnitudes, this->signs);
  }
};

}  // namespace lazymoe::quant::detail

namespace lazymoe::quant {

/// Formats whose steps know their weights as signed bytes: w = d * scale * byte, exact whatever the order.
template <BlockFormat F, simd::Avx2Arch Arch>
requires requires(const typename BlockDot<F, Arch>::Weights& w) { w.template step<0>().weights(); }
struct DecodeKernel<F, Arch> {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    using Dot = BlockDot<F, Arch>;
    detail::each_block(row, [&](const auto& block) LAZYMOE_INLINE {
      const typename Dot::Weights of(block);
      simd::unroll<Dot::steps>([&](auto s) LAZYMOE_INLINE {
        const auto step = of.template step<s>();
        const __m256i bytes = step.weights();
        write16(_mm256_castsi256_si128(bytes), factor(of, _mm256_castsi256_si128(step.scale)), out);
        write16(_mm256_extracti128_si256(bytes, 1), factor(of, _mm256_extracti128_si256(step.scale, 1)), out + 16);
        out += 32;
      });
    });
  }

 private:
  LAZYMOE_INLINE static __m256 factor(const auto& of, __m128i scale16) noexcept {
    return _mm256_mul_ps(of.unit(), _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(scale16)));
  }

  LAZYMOE_INLINE static void write16(__m128i bytes, __m256 factor, float* out) noexcept {
    const __m256 low = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
    const __m256 high = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)));
    _mm256_storeu_ps(out, _mm256_mul_ps(factor, low));
    _mm256_storeu_ps(out + 8, _mm256_mul_ps(factor, high));
  }
};

}  // namespace lazymoe::quant

#endif
