#pragma once

#include <span>

#include "../../simd/widen.hpp"
#include "../formats/q5_k.hpp"
#include "q4_k.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

/// Q5_K: as Q4_K, with bit g of the high bytes as the fifth bit of group g.
template <simd::Avx2Arch Arch>
struct IntDotKernel<Q5_K, Arch> {
  static float run(std::span<const Q5_K::Block> row, const Q8_K::Block* y) noexcept {
    using namespace simd::avx2;
    detail::SumsWithMins sums;
    for (const auto& block : row) {
      const detail::GroupVectors groups(block.scales);
      const __m256i high = load32(block.high.data());
      __m256i even = _mm256_setzero_si256();
      __m256i odd = _mm256_setzero_si256();
      simd::unroll<4>([&](auto pair) {
        constexpr int g = 2 * static_cast<int>(pair());
        const __m256i q = load32(block.low.data() + 16 * g);
        const __m256i first = _mm256_or_si256(shift_and<0>(q, 15), shift_and<g - 4>(high, 16));
        const __m256i second = _mm256_or_si256(shift_and<4>(q, 15), shift_and<g - 3>(high, 16));
        const __m256i first_sums = pair_sums(first, load32(y->q.data() + 32 * g));
        const __m256i second_sums = pair_sums(second, load32(y->q.data() + 32 * g + 32));
        even = _mm256_add_epi32(even, scaled_sums(first_sums, groups.scale<g>()));
        odd = _mm256_add_epi32(odd, scaled_sums(second_sums, groups.scale<g + 1>()));
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
