#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "../../simd/widen.hpp"

namespace lazymoe::quant::detail {

/// Asks for the memory that follows R rows while they are multiplied. Processors look ahead on their own, but stop at
/// the end of a page and follow few rows at once. With `On` false it does nothing.
template <bool On>
class FetchAhead {
 public:
  template <class T, std::size_t R>
  FetchAhead(const std::array<const T*, R>& rows, std::size_t n) noexcept
      : next_(reinterpret_cast<const std::byte*>(rows[0]) + (R == 1 ? 0 : R * n * sizeof(T)) + distance) {}

  template <std::size_t Bytes>
  LAZYMOE_INLINE void step() noexcept {
    if constexpr (On) {
      simd::unroll<(Bytes + 63) / 64>([&](auto line) LAZYMOE_INLINE { __builtin_prefetch(next_ + 64 * line); });
      next_ += Bytes;
    }
  }

 private:
  /// From 1 to 4 KiB all do.
  static constexpr std::size_t distance = 2048;
  const std::byte* next_;
};

/// Calls fn(block) for the blocks of a row, and asks for the memory that follows it.
template <class Block, class Fn>
LAZYMOE_INLINE inline void each_block(std::span<const Block> row, Fn&& fn) noexcept {
  FetchAhead<true> ahead(std::array{row.data()}, row.size());
  for (const Block& block : row) {
    ahead.template step<sizeof(Block)>();
    fn(block);
  }
}

}  // namespace lazymoe::quant::detail
