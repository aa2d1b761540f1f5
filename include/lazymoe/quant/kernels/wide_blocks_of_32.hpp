#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "../../simd/widen.hpp"
#include "blocks_of_32.hpp"
#include "tile.hpp"
#include "wide_panel.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// What to add to the bytes of a format so that they are unsigned.
template <class F>
inline constexpr int bytes_below_zero = 0;
template <>
inline constexpr int bytes_below_zero<Q8_0> = 128;
template <>
inline constexpr int bytes_below_zero<Q4_0> = 8;
template <>
inline constexpr int bytes_below_zero<Q5_0> = 16;
template <>
inline constexpr int bytes_below_zero<IQ4_NL> = 128;
template <>
inline constexpr int bytes_below_zero<MXFP4> = 12;

/// Whether weights meet activations as those unsigned bytes, and what they exceed is taken from the sums: one step,
/// where moving the signs to every activation is another. Without VNNI it pays only where it needs no other unpacking,
/// and pairs of bytes that exceed by more than 16 would not fit int16.
template <class F>
inline constexpr bool takes_excess = simd::avx2::has_vnni || HasExcess<F>;

/// Integers below 2^22 become floats by two sums, for which processors have more room than for conversions: plus these
/// bits, minus this number.
inline constexpr std::int32_t magic_bits = 0x4B400000;
inline constexpr float magic_number = 0x1.8p23F;

/// The folds of simd::avx2::sum() for eight vectors at once.
[[nodiscard]] inline __m256 sums_of_lanes(const __m256 (&v)[8]) noexcept {
  const auto halves = [&](std::size_t i) {
    return _mm256_add_ps(_mm256_permute2f128_ps(v[i], v[i + 4], 0x20), _mm256_permute2f128_ps(v[i], v[i + 4], 0x31));
  };
  const auto quarters = [](__m256 a, __m256 b) {
    return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x44), _mm256_shuffle_ps(a, b, 0xEE));
  };
  const __m256 a = quarters(halves(0), halves(1));
  const __m256 b = quarters(halves(2), halves(3));
  return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xDD));
}

/// Two halves that follow one another, in the even and in the odd lanes.
[[nodiscard]] LAZYMOE_INLINE inline __m256 all_lanes_of_halves(const Half& first) noexcept {
#if defined(__F16C__)
  const auto two = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(&first));
  return _mm256_cvtph_ps(_mm_set1_epi32(static_cast<int>(two)));
#else
  const __m128 two = first_halves(first);
  return _mm256_set_m128(_mm_movelh_ps(two, two), _mm_movelh_ps(two, two));
#endif
}

/// Some blocks of eight activations, made ready for many rows of format F.
template <class F>
struct WideStrip {
  static constexpr std::size_t most_blocks = HasTwoSums<F> ? 32 : 16;

  struct Block {
    alignas(32) std::array<std::int8_t, 32> q;
    /// What a lane of products starts with: takes the excess of unsigned weights, and adds magic_bits.
    alignas(32) std::array<std::int32_t, takes_excess<F> ? 8 : 0> start;
  };

  void fill(const ActivationBlock<F>* const* x, std::size_t first, std::size_t n) noexcept {
    using namespace simd::avx2;
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t t = 0; t < 8; ++t) {
        const auto& y = x[t][first + b];
        const __m256i bytes = load32(y.q.data());
        _mm256_store_si256(reinterpret_cast<__m256i*>(blocks[b][t].q.data()), bytes);
        if constexpr (takes_excess<F>) {
          const __m256i sums = quad_sums_unsigned(_mm256_set1_epi8(1), bytes);
          const __m256i excess = _mm256_mullo_epi32(sums, _mm256_set1_epi32(bytes_below_zero<F>));
          _mm256_store_si256(reinterpret_cast<__m256i*>(blocks[b][t].start.data()),
                             _mm256_sub_epi32(_mm256_set1_epi32(magic_bits), excess));
        }
        d[b][t] = y.d;
        if constexpr (HasOffset<F>) s[b][t] = y.s;
      }
    }
  }

  std::array<std::array<Block, 8>, most_blocks> blocks;
  alignas(32) std::array<std::array<float, 8>, most_blocks> d;
  alignas(32) std::array<std::array<float, 8>, most_blocks> s;  ///< where weights have an offset
};

/// The bytes of a block of weights, made ready for a strip.
template <class F>
struct WideWeights {
  explicit WideWeights(const typename F::Block& block) noexcept : bytes(Bytes32<F>::unpack(block)) {
    using namespace simd::avx2;
    if constexpr (takes_excess<F>) {
      bytes = _mm256_add_epi8(bytes, _mm256_set1_epi8(static_cast<char>(bytes_below_zero<F>)));
    } else if constexpr (!HasOffset<F>) {
      magnitudes = _mm256_abs_epi8(bytes);
    }
  }

  /// Sums of quads of products, as floats.
  [[nodiscard]] LAZYMOE_INLINE __m256 products(const typename WideStrip<F>::Block& y) const noexcept {
    using namespace simd::avx2;
    const __m256i q = _mm256_load_si256(reinterpret_cast<const __m256i*>(y.q.data()));
    __m256i sums;
    if constexpr (takes_excess<F>) {
      const auto* start = reinterpret_cast<const __m256i*>(y.start.data());
      sums = add_quad_sums_unsigned(_mm256_load_si256(start), bytes, q);
      keep_in_register(sums);
      return _mm256_sub_ps(_mm256_castsi256_ps(sums), _mm256_set1_ps(magic_number));
    } else if constexpr (HasOffset<F>) {
      sums = quad_sums_unsigned(bytes, q);
    } else {
      sums = quad_sums_unsigned(magnitudes, _mm256_sign_epi8(q, bytes));
    }
    keep_in_register(sums);
    return _mm256_cvtepi32_ps(sums);
  }

  __m256i bytes;
  __m256i magnitudes;  ///< of signed bytes
};

}  // namespace detail

/// Blocks of 32. A strip of the activations is made ready once for many rows: their bytes beside what the excess of
/// unsigned weights comes to; their scales are laid side by side, and those of a block of weights and eight activations
/// are multiplied at once. What a row has summed waits in memory while other rows meet the strip.
template <BlockFormat F, simd::Avx2Arch Arch>
requires requires(const typename F::Block& block) { detail::Bytes32<F>::unpack(block); }
struct WidePanel<F, Arch> {
  using Block = typename F::Block;

  static constexpr std::size_t activations = 8;
  static constexpr bool pays(std::size_t n_rows, std::size_t) noexcept { return n_rows >= 8; }

  static void run(const Block* rows, std::size_t n_rows, std::size_t blocks, const ActivationBlock<F>* const* x,
                  float* out, std::size_t stride) noexcept {
    Strip strip;
    Sums sums[most_rows];
    for (std::size_t first = 0; first < n_rows; first += most_rows) {
      const std::size_t n = std::min(most_rows, n_rows - first);
      for (std::size_t b = 0; b < blocks; b += Strip::most_blocks) {
        const std::size_t width = std::min(Strip::most_blocks, blocks - b);
        strip.fill(x, b, width);
        for (std::size_t r = 0; r < n; ++r) {
          if (b == 0) sums[r] = {};
          add(rows + (first + r) * blocks + b, width, strip, sums[r]);
        }
      }
      for (std::size_t r = 0; r < n; ++r) total(sums[r], out + first + r, stride);
    }
  }

 private:
  using Strip = detail::WideStrip<F>;
  static constexpr std::size_t chains = BlockDot<F, Arch>::chains;
  static_assert(Strip::most_blocks % chains == 0);
  /// Their sums take 16 KiB.
  static constexpr std::size_t most_rows = 64 / chains;

  struct Sums {
    __m256 eight[chains][activations]{};
    __m256 offsets = _mm256_setzero_ps();  ///< one lane an activation
  };

  /// Blocks of one row meet the strip.
  static void add(const Block* row, std::size_t n, const Strip& strip, Sums& sums) noexcept {
    // All scales first: a number spreads for free when it comes from memory, but not while it is on its way there.
    alignas(32) std::array<std::array<float, activations>, Strip::most_blocks> scales;
    for (std::size_t b = 0; b < n; ++b) {
      const __m256 y = _mm256_load_ps(strip.d[b].data());
      if constexpr (detail::HasOffset<F>) {
        const __m256 both = detail::all_lanes_of_halves(row[b].d);
        _mm256_store_ps(scales[b].data(), _mm256_mul_ps(_mm256_moveldup_ps(both), y));
        sums.offsets = simd::avx2::fma(_mm256_movehdup_ps(both), _mm256_load_ps(strip.s[b].data()), sums.offsets);
      } else {
        _mm256_store_ps(scales[b].data(), _mm256_mul_ps(detail::Bytes32<F>::scale(row[b]), y));
      }
    }
    simd::unroll<chains>([&](auto chain) LAZYMOE_INLINE {
      __m256 eight[activations];
      simd::unroll<activations>([&](auto t) LAZYMOE_INLINE { eight[t] = sums.eight[chain][t]; });
      for (std::size_t b = chain; b < n; b += chains) {
        const detail::WideWeights<F> weights(row[b]);
        simd::unroll<activations>([&](auto t) LAZYMOE_INLINE {
          const __m256 scale = _mm256_broadcast_ss(&scales[b][t]);
          eight[t] = simd::avx2::fma(scale, weights.products(strip.blocks[b][t]), eight[t]);
        });
      }
      simd::unroll<activations>([&](auto t) LAZYMOE_INLINE { sums.eight[chain][t] = eight[t]; });
    });
  }

  static void total(Sums& sums, float* out, std::size_t stride) noexcept {
    if constexpr (detail::HasOffset<F>) {
      alignas(32) std::array<float, activations> offsets;
      _mm256_store_ps(offsets.data(), sums.offsets);
      for (std::size_t t = 0; t < activations; ++t) {
        const __m256 offset = _mm256_zextps128_ps256(_mm_set_ss(offsets[t]));
        sums.eight[0][t] = _mm256_add_ps(sums.eight[0][t], offset);
      }
    }
    if constexpr (chains == 2) {
      for (std::size_t t = 0; t < activations; ++t) {
        sums.eight[0][t] = _mm256_add_ps(sums.eight[0][t], sums.eight[1][t]);
      }
    }
    alignas(32) std::array<float, activations> totals;
    _mm256_store_ps(totals.data(), detail::sums_of_lanes(sums.eight[0]));
    for (std::size_t t = 0; t < activations; ++t) out[t * stride] = totals[t];
  }
};

}  // namespace lazymoe::quant

#endif
