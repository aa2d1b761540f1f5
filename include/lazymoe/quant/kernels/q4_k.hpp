#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/q4_k.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// The eight scales and the eight minimums of a block of Q4_K or Q5_K as bytes, see Q4_K::group().
struct ScalesAndMins {
  template <class Block>
  explicit ScalesAndMins(const Block& of) noexcept {
    constexpr std::uint32_t low6 = 0x3F3F3F3F;
    constexpr std::uint32_t low4 = 0x0F0F0F0F;
    constexpr std::uint32_t top2 = 0x30303030;
    const auto* bytes = reinterpret_cast<const std::byte*>(of.scales.data());
    const auto a = load_as<std::uint32_t>(bytes);
    const auto b = load_as<std::uint32_t>(bytes + 4);
    const auto c = load_as<std::uint32_t>(bytes + 8);
    const std::uint64_t s = (a & low6) | std::uint64_t{(c & low4) | ((a >> 2) & top2)} << 32;
    const std::uint64_t m = (b & low6) | std::uint64_t{((c >> 4) & low4) | ((b >> 2) & top2)} << 32;
    scales = _mm_cvtsi64_si128(static_cast<long long>(s));
    mins = _mm_cvtsi64_si128(static_cast<long long>(m));
  }

  __m128i scales;
  __m128i mins;
};

/// How a group of 32 becomes a vector of unsigned bytes, `unpack<G>(block)`, for formats with the scales of Q4_K.
template <BlockFormat F>
struct GroupBytes;

template <>
struct GroupBytes<Q4_K> {
  template <std::size_t G>
  static __m256i unpack(const Q4_K::Block& block) noexcept {
    return simd::avx2::shift_and<4 * (G % 2)>(simd::avx2::load32(block.q.data() + 32 * (G / 2)), 15);
  }
};

template <BlockFormat F>
struct WeightsOfOneWithMins {
  explicit WeightsOfOneWithMins(const typename F::Block& of) noexcept : block(of) {
    const ScalesAndMins bytes(of);
    mins = _mm_cvtepu8_epi16(bytes.mins);
    scales = _mm256_broadcastq_epi64(bytes.scales);
  }

  template <std::size_t G>
  [[nodiscard]] UnsignedRun<32 * G> step() const noexcept {
    return {GroupBytes<F>::template unpack<G>(block), _mm256_shuffle_epi8(scales, _mm256_set1_epi16(static_cast<short>(0x8000u + G)))};
  }

  /// d and dmin times `factor`, in all lanes.
  struct Scales {
    __m256 d;
    __m128 dmin;
  };
  [[nodiscard]] Scales times(float factor) const noexcept {
    const __m128 both = _mm_mul_ps(first_halves(block.d), _mm_set1_ps(factor));
    return {_mm256_broadcastss_ps(both), _mm_shuffle_ps(both, both, 0x55)};
  }

  const typename F::Block& block;
  __m128i mins;                                   ///< of the groups, in 16-bit lanes
  __m256i scales;
};

/// Scales and minimums of a block of Q4_K or Q5_K, ready for any activation.
template <BlockFormat F>
struct WeightsWithMins : WeightsOfOneWithMins<F> {
  using Base = WeightsOfOneWithMins<F>;

  explicit WeightsWithMins(const typename F::Block& of) noexcept
      : Base(of), d(all_lanes(of.d)), dmin(_mm256_castps256_ps128(all_lanes(of.dmin))) {}

  [[nodiscard]] typename Base::Scales times(float factor) const noexcept {
    const __m256 all = _mm256_set1_ps(factor);
    return {_mm256_mul_ps(d, all), _mm_mul_ps(dmin, _mm256_castps256_ps128(all))};
  }

  __m256 d;
  __m128 dmin;
};

/// The running sums of a row whose groups have minimums. These keep four sums of their own, as the reference has it.
class SumsWithMins {
 public:
  template <class Weights>
  void add(const Weights& w, __m256i products, const ActivationQ8_K* y) noexcept {
    const auto scales = w.times(y->d);
    products_ = simd::avx2::fma(scales.d, _mm256_cvtepi32_ps(products), products_);
    const __m128i by_two = _mm_madd_epi16(w.mins, simd::avx2::load16(y->sums_of_32.data()));
    mins_ = simd::avx2::fma(scales.dmin, _mm_cvtepi32_ps(by_two), mins_);
  }
  [[nodiscard]] float total() const noexcept { return simd::avx2::sum(products_) - simd::avx2::sum(mins_); }

 private:
  __m256 products_ = _mm256_setzero_ps();
  __m128 mins_ = _mm_setzero_ps();
};

}  // namespace detail

/// Q4_K and Q5_K by unsigned byte products; the minimums meet the sums of 32 that the activation carries.
template <BlockFormat F, simd::Avx2Arch Arch>
requires requires(const typename F::Block& block) { detail::GroupBytes<F>::template unpack<0>(block); }
struct BlockDot<F, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsWithMins;
  using Weights = detail::WeightsWithMins<F>;
  using WeightsOfOne = detail::WeightsOfOneWithMins<F>;
};

}  // namespace lazymoe::quant

#endif
