#pragma once

#include <cstdint>
#include <optional>

#include "../core/bytes.hpp"
#include "../core/types.hpp"
#include "slice.hpp"

namespace lazymoe::experts {

/// Where the matrices of one layer's experts lie in a file: equal in shape, one after the other.
///
/// @shape W[experts, rows, cols], each row packed into cols / block_elems blocks
struct ExpertTensor {
  std::uint32_t shard = 0;
  Bytes offset = 0;  ///< of expert 0, from the start of the shard file
  std::uint64_t cols = 0;
  std::uint64_t rows = 0;     ///< of one expert
  std::uint64_t experts = 0;  ///< 1 for a plain matrix
  std::uint64_t block_elems = 0;
  Bytes block_bytes = 0;
};

/// Bytes of one packed row, or nullopt if the columns are not whole blocks or the size does not fit.
[[nodiscard]] constexpr std::optional<Bytes> packed_row_bytes(const ExpertTensor& tensor) noexcept {
  if (tensor.block_elems == 0 || tensor.cols % tensor.block_elems != 0) return std::nullopt;
  return checked_mul(tensor.cols / tensor.block_elems, tensor.block_bytes);
}

/// Bytes of the whole tensor, or nullopt if its end does not fit 64 bits (so that no part of it can overflow).
[[nodiscard]] constexpr std::optional<Bytes> packed_bytes(const ExpertTensor& tensor) noexcept {
  const auto row = packed_row_bytes(tensor);
  if (!row) return std::nullopt;
  const auto expert = checked_mul(*row, tensor.rows);
  if (!expert) return std::nullopt;
  const auto all = checked_mul(*expert, tensor.experts);
  if (!all || !checked_add(tensor.offset, *all)) return std::nullopt;
  return all;
}

/// The bytes of rows [first, first + n_rows) of one expert; gate and up of a fused tensor are its two halves.
/// Nullopt if the rows are not in the tensor or the tensor has no valid size.
[[nodiscard]] constexpr std::optional<SliceRef> row_slice(const ExpertTensor& tensor, ExpertIndex expert,
                                                          std::uint64_t first, std::uint64_t n_rows) noexcept {
  if (expert >= tensor.experts || first > tensor.rows || n_rows > tensor.rows - first) return std::nullopt;
  if (!packed_bytes(tensor)) return std::nullopt;
  // From here on every product is at most packed_bytes().
  const Bytes row = *packed_row_bytes(tensor);
  return SliceRef{
      .shard = tensor.shard, .offset = tensor.offset + row * (expert * tensor.rows + first), .bytes = row * n_rows};
}

/// The bytes of one expert's matrix; nullopt as for row_slice().
[[nodiscard]] constexpr std::optional<SliceRef> expert_slice(const ExpertTensor& tensor, ExpertIndex expert) noexcept {
  return row_slice(tensor, expert, 0, tensor.rows);
}

}  // namespace lazymoe::experts
