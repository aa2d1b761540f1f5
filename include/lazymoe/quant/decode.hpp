#pragma once

#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../simd/arch.hpp"
#include "format.hpp"
#include "packed_matrix.hpp"
#include "registry.hpp"

namespace lazymoe::quant {

/// Kernel of decode_row() for one format on one ISA. The primary template is the reference: scalar, any
/// format. A faster path is a partial specialisation in quant/kernels/, and gives the same bits.
template <BlockFormat F, class Arch>
struct DecodeKernel {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    for (const auto& block : row) {
      F::decode(block, std::span<float, F::block_elems>(out, F::block_elems));
      out += F::block_elems;
    }
  }
};

/// Decodes row `i` of a matrix, whatever its format.
///
/// @shape  W[rows, cols] -> out[cols]
/// @pre    out.size() == matrix.cols
/// @throws Error{unsupported_type} when the type is not in the registry
/// @error  none: every weight is exactly what the reference decodes
template <class Arch = simd::DefaultArch>
void decode_row(const PackedMatrix& matrix, std::size_t i, std::span<float> out) {
  LAZYMOE_EXPECTS(out.size() == matrix.cols);
  visit_format<readable_formats>(matrix.type, [&](auto format) {
    using F = typename decltype(format)::type;
    DecodeKernel<F, Arch>::run(matrix.blocks<F>(i), out.data());
  });
}

}  // namespace lazymoe::quant
