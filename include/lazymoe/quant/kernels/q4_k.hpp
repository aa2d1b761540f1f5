#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/q4_k.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// Scales and minimums of a block of Q4_K or Q5_K, ready for any activation.
template <BlockFormat F>
struct WeightsWithMins {
  explicit WeightsWithMins(const typename F::Block& of) noexcept
      : block(of), d(detail::all_lanes(of.d)), minus_dmin(_mm256_xor_ps(detail::all_lanes(of.dmin), _mm256_set1_ps(-0.0F))) {
    constexpr std::uint32_t low6 = 0x3F3F3F3F;
    constexpr std::uint32_t low4 = 0x0F0F0F0F;
    constexpr std::uint32_t top2 = 0x30303030;
    const auto* bytes = reinterpret_cast<const std::byte*>(of.scales.data());
    const auto a = load_as<std::uint32_t>(bytes);
    const auto b = load_as<std::uint32_t>(bytes + 4);
    const auto c = load_as<std::uint32_t>(bytes + 8);
    const std::uint64_t s = (a & low6) | std::uint64_t{(c & low4) | ((a >> 2) & top2)} << 32;
    const std::uint64_t m = (b & low6) | std::uint64_t{((c >> 4) & low4) | ((b >> 2) & top2)} << 32;
    const __m128i min_bytes = _mm_cvtsi64_si128(static_cast<long long>(m));
    scales = simd::avx2::twice(_mm_cvtepu8_epi16(_mm_cvtsi64_si128(static_cast<long long>(s))));
    mins = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(min_bytes, min_bytes));
  }

  const typename F::Block& block;
  __m256 d;
  __m256 minus_dmin;
  __m256i scales;  ///< of the 8 groups, in the 16-bit lanes of both halves
  __m256i mins;    ///< of the 8 groups, each twice: as the sums of 16 of an activation
};

/// The running sums of a row whose groups have minimums. These keep four sums of their own, as the reference has it.
class SumsWithMins {
 public:
  template <class Weights>
  void add(const Weights& w, __m256i products, const ActivationQ8_K* y) noexcept {
    using namespace simd::avx2;
    const __m256 y_d = _mm256_set1_ps(y->d);
    products_ = fma(_mm256_mul_ps(w.d, y_d), _mm256_cvtepi32_ps(products), products_);
    const __m256i by_group = scaled_sums(w.mins, load32(y->sums.data()));
    const __m256i by_two = _mm256_add_epi32(by_group, _mm256_srli_epi64(by_group, 32));
    mins_ = fma(_mm256_mul_ps(w.minus_dmin, y_d), _mm256_cvtepi32_ps(by_two), mins_);
  }
  [[nodiscard]] float total() const noexcept {
    const __m256 even_lanes = _mm256_permutevar8x32_ps(mins_, _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return simd::avx2::sum(products_) + simd::avx2::sum(_mm256_castps256_ps128(even_lanes));
  }

 private:
  __m256 products_ = _mm256_setzero_ps();
  __m256 mins_ = _mm256_setzero_ps();  ///< in the even lanes; what the odd ones have is not used
};

}  // namespace detail

/// Q4_K by unsigned byte products; the minimums meet the sums of 16 that the activation carries.
template <simd::Avx2Arch Arch>
struct BlockDot<Q4_K, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsWithMins;

  struct Weights : detail::WeightsWithMins<Q4_K> {
    using detail::WeightsWithMins<Q4_K>::WeightsWithMins;

    template <std::size_t G>
    [[nodiscard]] detail::UnsignedRun<32 * G> step() const noexcept {
      const __m256i q = simd::avx2::load32(this->block.q.data() + 32 * (G / 2));
      return {simd::avx2::shift_and<4 * (G % 2)>(q, 15), simd::avx2::spread_word<G>(this->scales)};
    }
  };
};

}  // namespace lazymoe::quant

#endif
