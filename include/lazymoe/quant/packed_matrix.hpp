#pragma once

#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "format.hpp"
#include "registry.hpp"

namespace lazymoe::quant {

/// A weight matrix in whatever format its file has: W[rows, cols], each row a run of blocks. A view.
///
/// @pre   `type` is in the registry, `cols` a multiple of its block, and
///        bytes.size() == rows * row_bytes(type, cols)
/// @unit  the bytes may sit at any address
struct PackedMatrix {
  TypeId type = TypeId::f32;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::span<const std::byte> bytes;

  [[nodiscard]] std::size_t row_bytes() const noexcept {
    LAZYMOE_EXPECTS(is_supported(type));
    return quant::row_bytes(type, cols);
  }

  /// The packed bytes of row `i`.
  [[nodiscard]] std::span<const std::byte> row(std::size_t i) const noexcept {
    LAZYMOE_EXPECTS(i < rows);
    return bytes.subspan(i * row_bytes(), row_bytes());
  }

  /// The matrix of `n` rows from `first` on.
  [[nodiscard]] PackedMatrix rows_view(std::size_t first, std::size_t n) const noexcept {
    LAZYMOE_EXPECTS(first <= rows && n <= rows - first);
    return {type, n, cols, bytes.subspan(first * row_bytes(), n * row_bytes())};
  }

  /// Row `i` as blocks of `F`: the one place where bytes become blocks.
  /// @pre F::id == type
  template <BlockFormat F>
  [[nodiscard]] std::span<const typename F::Block> blocks(std::size_t i) const noexcept {
    static_assert(alignof(typename F::Block) == 1, "bytes of a file are not aligned");
    LAZYMOE_EXPECTS(F::id == type && i < rows && cols % F::block_elems == 0);
    const std::size_t n = cols / F::block_elems;
    LAZYMOE_EXPECTS(bytes.size() == rows * n * sizeof(typename F::Block));
    return {reinterpret_cast<const typename F::Block*>(bytes.data()) + i * n, n};
  }
};

}  // namespace lazymoe::quant
