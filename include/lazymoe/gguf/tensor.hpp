#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../core/types.hpp"
#include "../quant/format.hpp"

namespace lazymoe::gguf {

/// Where a tensor lies and how it is packed. Dimensions are listed as GGUF lists them, innermost first; this is
/// the only place where that order is visible.
/// @shape [slices, rows, cols], outermost first; a fourth dimension above them is 1 in every model we know
struct TensorInfo {
  std::string name;
  std::array<std::uint64_t, 4> dims{1, 1, 1, 1};  ///< elements; absent dimensions are 1
  std::uint32_t n_dims = 1;
  quant::TypeId type = quant::TypeId::f32;
  std::uint32_t shard = 0;  ///< index into File::shards()
  Bytes offset = 0;         ///< from the beginning of the shard's file
  Bytes bytes = 0;

  [[nodiscard]] std::uint64_t cols() const noexcept { return dims[0]; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return dims[1]; }
  [[nodiscard]] std::uint64_t slices() const noexcept { return dims[2]; }  ///< experts of a fused tensor
  [[nodiscard]] std::uint64_t elems() const noexcept { return dims[0] * dims[1] * dims[2] * dims[3]; }

  /// "{cols, rows, slices}", as many as the file lists.
  [[nodiscard]] std::string shape_text() const {
    std::string text = "{";
    for (std::size_t i = 0; i < n_dims; ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
    return text += "}";
  }
};

}  // namespace lazymoe::gguf
