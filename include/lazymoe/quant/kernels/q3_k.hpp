#pragma once

#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/q3_k.hpp"
#include "q6_k.hpp"
#include "tile.hpp"

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

/// Q3_K with its weights kept unsigned, as Q6_K: 4 too large.
template <simd::Avx2Arch Arch>
struct BlockDot<Q3_K, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 8;
  using Products = __m256i;
  using Sums = detail::SumsWithoutExcess;

  struct Weights {
    explicit Weights(const Q3_K::Block& of) noexcept
        : block(of),
          d(detail::all_lanes(of.d)),
          groups(detail::unpack_scales(of)),
          excess(groups.in_order<2>()) {}

    template <std::size_t R>
    [[nodiscard]] detail::UnsignedRun<32 * R> step() const noexcept {
      using namespace simd::avx2;
      const __m256i low = shift_and<2 * (R % 4)>(load32(block.low.data() + 32 * (R / 4)), 3);
      const __m256i high = shift_and<static_cast<int>(R) - 2>(load32(block.high.data()), 4);
      return {_mm256_or_si256(low, high), groups.scale<R>()};
    }

    const Q3_K::Block& block;
    __m256 d;
    detail::HalfGroupVectors groups;
    __m256i excess;
  };
};

}  // namespace lazymoe::quant

#endif
