#pragma once

#include <cstddef>

#include "../../simd/widen.hpp"
#include "../formats/q5_k.hpp"
#include "q4_k.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// As Q4_K, with bit G of the high bytes as the fifth bit of group G.
template <>
struct GroupBytes<Q5_K> {
  template <std::size_t G>
  static __m256i unpack(const Q5_K::Block& block) noexcept {
    using namespace simd::avx2;
    const __m256i low = shift_and<4 * (G % 2)>(load32(block.low.data() + 32 * (G / 2)), 15);
    const __m256i high = shift_and<static_cast<int>(G) - 4>(load32(block.high.data()), 16);
    return _mm256_or_si256(low, high);
  }
};

}  // namespace detail

}  // namespace lazymoe::quant

#endif
