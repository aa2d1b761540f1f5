#pragma once

#include <cstddef>

#include "../../simd/widen.hpp"
#include "../formats/q5_k.hpp"
#include "q4_k.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

/// Q5_K: as Q4_K, with bit g of the high bytes as the fifth bit of group g.
template <simd::Avx2Arch Arch>
struct BlockDot<Q5_K, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsWithMins;

  struct Weights : detail::WeightsWithMins<Q5_K> {
    using detail::WeightsWithMins<Q5_K>::WeightsWithMins;

    template <std::size_t G>
    [[nodiscard]] detail::UnsignedRun<32 * G> step() const noexcept {
      using namespace simd::avx2;
      const __m256i low = shift_and<4 * (G % 2)>(load32(this->block.low.data() + 32 * (G / 2)), 15);
      const __m256i high = shift_and<static_cast<int>(G) - 4>(load32(this->block.high.data()), 16);
      return {_mm256_or_si256(low, high), spread_word<G>(this->scales)};
    }
  };
};

}  // namespace lazymoe::quant

#endif
