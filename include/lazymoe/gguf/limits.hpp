#pragma once

#include <cstdint>

#include "../core/types.hpp"

namespace lazymoe::gguf {

/// What a header may hold at most. Far above any model; a file beyond it is damaged or means harm.
/// @source the name, dimension and element limits are those of ggml; the largest array known is the merges of a
///         vocabulary, about 450 000 strings
struct Limits {
  static constexpr std::uint64_t keys = 65536;
  static constexpr std::uint64_t tensors = 131072;
  static constexpr Bytes key_bytes = 65535;
  static constexpr Bytes tensor_name_bytes = 63;
  static constexpr Bytes string_bytes = 64_MiB;
  static constexpr std::uint64_t array_elems = std::uint64_t{1} << 24;
  static constexpr Bytes header_bytes = 1_GiB;
  static constexpr std::uint64_t dim = (std::uint64_t{1} << 63) - 1;  ///< ggml counts in int64
};

/// Alignment of tensors where the file names none.
inline constexpr std::uint32_t default_alignment = 32;

}  // namespace lazymoe::gguf
