#pragma once

#include <cstddef>
#include <span>

#include "../../simd/widen.hpp"
#include "../formats/q2_k.hpp"
#include "q6_k.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

/// Q2_K: the minimums meet the sums of 16 that the activation carries.
template <simd::Avx2Arch Arch>
struct IntDotKernel<Q2_K, Arch> {
  static float run(std::span<const Q2_K::Block> row, const Q8_K::Block* y) noexcept {
    using namespace simd::avx2;
    __m256 total = _mm256_setzero_ps();
    for (const auto& block : row) {
      const __m128i packed = load16(block.scales.data());
      const __m128i low4 = _mm_set1_epi8(15);
      const detail::HalfGroupVectors scales(_mm_and_si128(packed, low4));
      const detail::HalfGroupVectors mins(_mm_and_si128(_mm_srli_epi16(packed, 4), low4));
      __m256i sums = _mm256_setzero_si256();
      simd::unroll<8>([&](auto index) {
        constexpr int run = static_cast<int>(index());
        const __m256i w = shift_and<2 * (run % 4)>(load32(block.q.data() + 32 * (run / 4)), 3);
        const __m256i pairs = pair_sums(w, load32(y->q.data() + 32 * run));
        sums = _mm256_add_epi32(sums, scaled_sums(pairs, scales.scale<run>()));
      });
      total = add_scaled(total, y->d * to_float(block.d), sums);
      total = add_scaled(total, -y->d * to_float(block.dmin), mins.sums(*y));
      ++y;
    }
    return sum(total);
  }
};

}  // namespace lazymoe::quant

#endif
