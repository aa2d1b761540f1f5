#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "../../core/bytes.hpp"
#include "../../core/error.hpp"
#include "../limits.hpp"
#include "../type_names.hpp"

namespace lazymoe::gguf::detail {

/// Bytes of a tensor of these dimensions, which may come from anywhere.
///
/// @shape  dims: innermost first, absent ones 1
/// @throws Error{bad_file} for impossible dimensions, Error{unsupported_type}; both beginning with `where`
[[nodiscard]] inline Bytes tensor_bytes(const std::array<std::uint64_t, 4>& dims, quant::TypeId type,
                                        const std::string& where) {
  const auto fail = [&](const std::string& reason) { throw Error(Errc::bad_file, where + ": " + reason); };
  std::uint64_t elems = 1;
  for (const std::uint64_t dim : dims) {
    if (dim == 0) fail("a dimension is 0");
    if (dim > Limits::dim) fail("dimension " + std::to_string(dim) + " is negative or too large");
    // Checked step by step: a wrapped product can look harmless.
    const auto product = checked_mul(elems, dim);
    if (!product || *product > Limits::dim) fail("the number of elements overflows");
    elems = *product;
  }
  const quant::Layout& layout = layout_of(type, where);
  if (dims[0] % layout.block_elems != 0) {
    fail("rows of " + std::to_string(dims[0]) + " elements are not a multiple of the block of " +
         std::string(layout.name) + ", " + std::to_string(layout.block_elems));
  }
  const auto bytes = checked_mul<std::uint64_t>(elems / layout.block_elems, layout.block_bytes);
  if (!bytes) fail("the number of bytes overflows");
  return *bytes;
}

}  // namespace lazymoe::gguf::detail
