#pragma once

#include <array>
#include <cstddef>

#include "../../simd/batch.hpp"

/// Products of small float matrices whose sums stay in registers: what the chunks of the delta rule are made of.
namespace lazymoe::models::detail {

inline constexpr std::size_t tile_lanes = simd::WideBatch::size;

/// Sums of R rows of J registers.
template <std::size_t R, std::size_t J>
using Tile = std::array<std::array<simd::WideBatch, J>, R>;

/// Rows of a tile of two registers a row that occupy the processor and leave room for what they are made from: of 16
/// registers, and of the 32 that wider ones come with.
inline constexpr std::size_t tallest_tile = tile_lanes == 16 ? 12 : 6;

/// Calls fn.operator()<R>(r) for tiles of rows r to r + R that cover n rows.
template <class Fn>
void for_tiles(std::size_t n, Fn&& fn) {
  std::size_t r = 0;
  // Two tiles of middling height at the end are faster than a tall one and a flat one.
  for (; n - r == tallest_tile || n - r > tallest_tile + 2; r += tallest_tile) {
    fn.template operator()<tallest_tile>(r);
  }
  for (; r + 4 <= n; r += 4) fn.template operator()<4>(r);
  for (; r + 2 <= n; r += 2) fn.template operator()<2>(r);
  if (r < n) fn.template operator()<1>(r);
}

template <std::size_t R, std::size_t J>
[[gnu::always_inline]] inline void clear(Tile<R, J>& tile) noexcept {
  for (auto& row : tile) row.fill(simd::WideBatch(0.0F));
}

/// tile[k] += sum_(i < n) x[k * row + i * col] m[i * stride ..], one chain of fused multiply-adds in the order of i.
template <std::size_t R, std::size_t J>
  requires(J == 1 || J == 2)
[[gnu::always_inline]] inline void add_products(Tile<R, J>& tile, std::size_t n, const float* x, std::size_t row,
                                                std::size_t col, const float* m, std::size_t stride) noexcept {
  using Batch = simd::WideBatch;
  for (std::size_t i = 0; i < n; ++i, x += col, m += stride) {
    Batch first = Batch::load_unaligned(m);
    Batch second = Batch::load_unaligned(m + (J - 1) * tile_lanes);  // the same one if it is alone
    simd::keep_in_register(first);
    simd::keep_in_register(second);
    for (std::size_t k = 0; k < R; ++k) {
      const Batch factor(x[k * row]);
      tile[k][0] = simd::fma(factor, first, tile[k][0]);
      if constexpr (J == 2) tile[k][1] = simd::fma(factor, second, tile[k][1]);
    }
  }
}

/// Rows go `stride` floats apart.
template <std::size_t R, std::size_t J>
[[gnu::always_inline]] inline void store(const Tile<R, J>& tile, float* y, std::size_t stride) noexcept {
  for (std::size_t k = 0; k < R; ++k) {
    for (std::size_t l = 0; l < J; ++l) tile[k][l].store_unaligned(y + k * stride + l * tile_lanes);
  }
}

/// y[R, J registers] = x times m[n, J registers], as add_products() reads them. Not inlined, so that nothing else wants
/// its registers.
template <std::size_t R, std::size_t J>
[[gnu::noinline]] void multiply(std::size_t n, const float* x, std::size_t row, std::size_t col, const float* m,
                                std::size_t m_stride, float* y, std::size_t y_stride) noexcept {
  Tile<R, J> tile;
  clear(tile);
  add_products(tile, n, x, row, col, m, m_stride);
  store(tile, y, y_stride);
}

/// y = factor * y + x times m.
template <std::size_t R, std::size_t J>
[[gnu::noinline]] void scale_and_multiply(float factor, std::size_t n, const float* x, std::size_t row,
                                          std::size_t col, const float* m, std::size_t m_stride, float* y,
                                          std::size_t y_stride) noexcept {
  const simd::WideBatch by(factor);
  Tile<R, J> tile;
  for (std::size_t k = 0; k < R; ++k) {
    for (std::size_t l = 0; l < J; ++l) {
      tile[k][l] = by * simd::WideBatch::load_unaligned(y + k * y_stride + l * tile_lanes);
    }
  }
  add_products(tile, n, x, row, col, m, m_stride);
  store(tile, y, y_stride);
}

}  // namespace lazymoe::models::detail
