#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/q3_k.hpp"
#include "q6_k.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// The 16 scales of a Q3_K block, see Q3_K::group_scale().
[[nodiscard]] inline __m128i unpack_scales(const Q3_K::Block& block) noexcept {
  constexpr std::uint64_t low4 = 0x0F0F0F0F0F0F0F0F;
  constexpr std::uint32_t top2 = 0x30303030;
  const auto* bytes = reinterpret_cast<const std::byte*>(block.scales.data());
  const auto low = load_as<std::uint64_t>(bytes);
  const auto high = load_as<std::uint32_t>(bytes + 8);
  const std::uint64_t first = (low & low4) | ((high << 4) & top2) | std::uint64_t{(high << 2) & top2} << 32;
  const std::uint64_t second = ((low >> 4) & low4) | (high & top2) | std::uint64_t{(high >> 2) & top2} << 32;
  const __m128i all = _mm_set_epi64x(static_cast<long long>(second), static_cast<long long>(first));
  return _mm_sub_epi8(all, _mm_set1_epi8(32));
}

}  // namespace detail

/// Q3_K with its weights kept unsigned, as Q6_K: what they are too large by is 4 times the sums of 16.
template <simd::Avx2Arch Arch>
struct IntDotKernel<Q3_K, Arch> {
  static float run(std::span<const Q3_K::Block> row, const Q8_K::Block* y) noexcept {
    using namespace simd::avx2;
    __m256 total = _mm256_setzero_ps();
    for (const auto& block : row) {
      const detail::HalfGroupVectors groups(detail::unpack_scales(block));
      const __m256i high = load32(block.high.data());
      __m256i sums = _mm256_setzero_si256();
      simd::unroll<8>([&](auto index) {
        constexpr int run = static_cast<int>(index());
        const __m256i low = load32(block.low.data() + 32 * (run / 4));
        const __m256i w = _mm256_or_si256(shift_and<2 * (run % 4)>(low, 3), shift_and<run - 2>(high, 4));
        const __m256i pairs = pair_sums(w, load32(y->q.data() + 32 * run));
        sums = _mm256_add_epi32(sums, scaled_sums(pairs, groups.scale<run>()));
      });
      const __m256i excess = _mm256_slli_epi32(groups.sums(*y), 2);
      total = add_scaled(total, y->d * to_float(block.d), _mm256_sub_epi32(sums, excess));
      ++y;
    }
    return sum(total);
  }
};

}  // namespace lazymoe::quant

#endif
