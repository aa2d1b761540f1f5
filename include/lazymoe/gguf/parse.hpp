#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../core/bytes.hpp"
#include "detail/cursor.hpp"
#include "detail/parse_start.hpp"
#include "detail/parse_value.hpp"
#include "detail/quote.hpp"
#include "detail/tensor_bytes.hpp"
#include "limits.hpp"
#include "metadata.hpp"
#include "tensor.hpp"

namespace lazymoe::gguf {

/// Everything a GGUF file says before its payload.
struct Header {
  std::uint32_t version = 0;
  std::uint32_t alignment = default_alignment;  ///< bytes
  Metadata metadata;
  std::vector<TensorInfo> tensors;  ///< in file order; offsets from the beginning of the file
  Bytes bytes = 0;                  ///< length of the header without padding
};

/// The header is longer than what parse() was given.
struct NeedMore {
  Bytes bytes;  ///< give at least so many, counted from the beginning of the file
};

namespace detail {

[[nodiscard]] inline std::uint32_t read_alignment(const Cursor& cursor, const Metadata& metadata) {
  const Value* const value = metadata.value("general.alignment");
  if (value == nullptr) return default_alignment;
  // As the reference does: this key steers the reading itself, so its type is not negotiable.
  if (value->type() != ValueType::u32) {
    cursor.fail("key 'general.alignment' is " + value->describe_type() + ", expected a u32");
  }
  const auto alignment = *value->as<std::uint32_t>();
  if (!std::has_single_bit(alignment)) {
    cursor.fail("key 'general.alignment' is " + std::to_string(alignment) + ", not a power of two");
  }
  return alignment;
}

/// One tensor; its offset is still counted from the beginning of the data section.
[[nodiscard]] inline TensorInfo parse_tensor(Cursor& cursor, std::uint64_t number, std::uint32_t alignment) {
  const std::string which = "tensor " + std::to_string(number);
  TensorInfo tensor;
  tensor.name = cursor.read_string(Limits::tensor_name_bytes, "the name of " + which);
  if (tensor.name.empty()) cursor.fail(which + " has an empty name");
  const std::string what = "tensor " + in_quotes(tensor.name);
  if (tensor.name.find('\0') != std::string::npos) cursor.fail(what + " has a NUL byte in its name");

  tensor.n_dims = cursor.read<std::uint32_t>(what);
  if (tensor.n_dims < 1 || tensor.n_dims > tensor.dims.size()) {
    cursor.fail(what + " has " + std::to_string(tensor.n_dims) + " dimensions, expected 1 to 4");
  }
  for (std::uint32_t i = 0; i < tensor.n_dims; ++i) tensor.dims[i] = cursor.read<std::uint64_t>(what);
  tensor.type = static_cast<quant::TypeId>(cursor.read<std::uint32_t>(what));
  tensor.offset = cursor.read<std::uint64_t>(what);
  tensor.bytes = tensor_bytes(tensor.dims, tensor.type, cursor.file() + ": " + what);
  if (tensor.offset % alignment != 0) {
    cursor.fail(what + " has the offset " + std::to_string(tensor.offset) + ", not a multiple of the alignment " +
                std::to_string(alignment));
  }
  return tensor;
}

inline void check_names(const Cursor& cursor, std::span<const TensorInfo> tensors) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const auto& tensor : tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());  // sorted, not hashed: no input makes it quadratic
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) cursor.fail("tensor " + in_quotes(*twin) + " appears twice");
}

/// Every tensor lies within the data section and none overlaps another. Gaps and any order are fine.
inline void check_places(const Cursor& cursor, std::span<const TensorInfo> tensors, Bytes data_bytes) {
  std::vector<const TensorInfo*> by_offset;
  by_offset.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    if (tensor.offset > data_bytes || tensor.bytes > data_bytes - tensor.offset) {
      cursor.fail("tensor " + in_quotes(tensor.name) + " has " + std::to_string(tensor.bytes) + " bytes at offset " +
                  std::to_string(tensor.offset) + " of the data section, which ends at " + std::to_string(data_bytes) +
                  "; the file is cut short or damaged");
    }
    by_offset.push_back(&tensor);
  }
  std::sort(by_offset.begin(), by_offset.end(),
            [](const TensorInfo* a, const TensorInfo* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    const TensorInfo& before = *by_offset[i - 1];
    if (by_offset[i]->offset < before.offset + before.bytes) {
      cursor.fail("tensors " + in_quotes(before.name) + " and " + in_quotes(by_offset[i]->name) + " overlap");
    }
  }
}

[[nodiscard]] inline Header parse_header(Cursor& cursor, std::uint32_t shard) {
  const Start start = parse_start(cursor);
  Header header{.version = start.version, .metadata = Metadata(cursor.file()), .tensors = {}};
  for (std::uint64_t i = 0; i < start.n_keys; ++i) parse_key(cursor, i, header.metadata);
  header.alignment = read_alignment(cursor, header.metadata);
  for (std::uint64_t i = 0; i < start.n_tensors; ++i) {
    header.tensors.push_back(parse_tensor(cursor, i, header.alignment));
    header.tensors.back().shard = shard;
  }
  header.bytes = cursor.position();
  check_names(cursor, header.tensors);

  // Cannot wrap: a header has at most 1 GiB and an alignment is at most 2 GiB.
  const Bytes data_offset = align_up(header.bytes, header.alignment);
  const Bytes file_bytes = cursor.position() + cursor.left();
  check_places(cursor, header.tensors, file_bytes > data_offset ? file_bytes - data_offset : 0);
  for (auto& tensor : header.tensors) tensor.offset += data_offset;
  return header;
}

}  // namespace detail

/// Reads the header of a GGUF file from its first bytes; does no I/O and never looks at the payload.
///
/// @param bytes       the beginning of the file, as much as is at hand
/// @param file_bytes  length of the whole file: tensors are checked against it
/// @param file        name for messages
/// @param shard       written into each TensorInfo
/// @throws Error{bad_file, unsupported_type} naming the file and the key or tensor
/// @cost   O(n log n) in keys and tensors, linear in bytes; memory is bounded by a small multiple of `bytes`
/// @thread pure
[[nodiscard]] inline std::variant<Header, NeedMore> parse(std::span<const std::byte> bytes, Bytes file_bytes,
                                                          std::string_view file, std::uint32_t shard = 0) {
  if (bytes.size() > file_bytes) bytes = bytes.first(static_cast<std::size_t>(file_bytes));
  detail::Cursor cursor(bytes, file_bytes, file);
  try {
    return detail::parse_header(cursor, shard);
  } catch (const detail::Beyond& beyond) {
    return NeedMore{beyond.needed};
  }
}

}  // namespace lazymoe::gguf
