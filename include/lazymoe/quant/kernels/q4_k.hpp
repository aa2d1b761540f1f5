#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/q4_k.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// Scales and minimums of the 8 groups of Q4_K and Q5_K, as multipliers of 32-byte vectors.
class GroupVectors {
 public:
  explicit GroupVectors(const std::array<std::uint8_t, 12>& packed) noexcept {
    constexpr std::uint32_t low6 = 0x3F3F3F3F;
    constexpr std::uint32_t low4 = 0x0F0F0F0F;
    constexpr std::uint32_t top2 = 0x30303030;
    const auto* bytes = reinterpret_cast<const std::byte*>(packed.data());
    const auto a = load_as<std::uint32_t>(bytes);
    const auto b = load_as<std::uint32_t>(bytes + 4);
    const auto c = load_as<std::uint32_t>(bytes + 8);
    const std::uint64_t scales = (a & low6) | std::uint64_t{(c & low4) | ((a >> 2) & top2)} << 32;
    const std::uint64_t mins = (b & low6) | std::uint64_t{((c >> 4) & low4) | ((b >> 2) & top2)} << 32;

    const __m128i s = _mm_cvtsi64_si128(static_cast<long long>(scales));
    const __m128i m = _mm_cvtsi64_si128(static_cast<long long>(mins));
    scales_ = simd::avx2::twice(_mm_cvtepu8_epi16(s));
    mins_ = _mm_cvtepu8_epi16(m);
  }

  /// The scale of group G in all 16-bit lanes.
  template <std::size_t G>
  [[nodiscard]] __m256i scale() const noexcept {
    return simd::avx2::spread_word<G>(scales_);
  }

  /// Four parts of the sum over groups of min[g] * (sum of y in g).
  [[nodiscard]] __m128i min_sums(const Q8_K::Block& y) const noexcept {
    const __m256i sums16 = simd::avx2::load32(y.sums.data());
    const __m128i sums32 = _mm_hadd_epi16(_mm256_castsi256_si128(sums16), _mm256_extracti128_si256(sums16, 1));
    return _mm_madd_epi16(mins_, sums32);
  }

 private:
  __m256i scales_;
  __m128i mins_;
};

/// The running sums of a row whose groups have minimums. These keep sums of their own, as the reference has it.
class SumsWithMins {
 public:
  void add(float scale, __m256i products, float min_scale, __m128i min_sums) noexcept {
    products_ = simd::avx2::add_scaled(products_, scale, products);
    mins_ = simd::avx2::fma(_mm_set1_ps(min_scale), _mm_cvtepi32_ps(min_sums), mins_);
  }
  [[nodiscard]] float total() const noexcept { return simd::avx2::sum(products_) + simd::avx2::sum(mins_); }

 private:
  __m256 products_ = _mm256_setzero_ps();
  __m128 mins_ = _mm_setzero_ps();
};

}  // namespace detail

/// Q4_K by unsigned byte products; the minimums meet the sums of 16 that the activation carries.
template <simd::Avx2Arch Arch>
struct IntDotKernel<Q4_K, Arch> {
  static float run(std::span<const Q4_K::Block> row, const Q8_K::Block* y) noexcept {
    using namespace simd::avx2;
    detail::SumsWithMins sums;
    for (const auto& block : row) {
      const detail::GroupVectors groups(block.scales);
      __m256i even = _mm256_setzero_si256();
      __m256i odd = _mm256_setzero_si256();
      simd::unroll<4>([&](auto pair) {
        constexpr std::size_t p = pair;
        const __m256i q = load32(block.q.data() + 32 * p);
        const __m256i low = pair_sums(shift_and<0>(q, 15), load32(y->q.data() + 64 * p));
        const __m256i high = pair_sums(shift_and<4>(q, 15), load32(y->q.data() + 64 * p + 32));
        even = _mm256_add_epi32(even, scaled_sums(low, groups.scale<2 * p>()));
        odd = _mm256_add_epi32(odd, scaled_sums(high, groups.scale<2 * p + 1>()));
      });
      sums.add(y->d * to_float(block.d), _mm256_add_epi32(even, odd), -y->d * to_float(block.dmin),
               groups.min_sums(*y));
      ++y;
    }
    return sums.total();
  }
};

}  // namespace lazymoe::quant

#endif
