#pragma once

#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../simd/arch.hpp"
#include "format.hpp"
#include "kernels/decode_blocks.hpp"
#include "kernels/decode_low_bits.hpp"
#include "kernels/iq1.hpp"
#include "kernels/iq2.hpp"
#include "kernels/iq3.hpp"
#include "kernels/plain.hpp"
#include "kernels/reference.hpp"
#include "packed_matrix.hpp"
#include "registry.hpp"

namespace lazymoe::quant {

/// Decodes row `i` of a matrix, whatever its format.
///
/// @shape  W[rows, cols] -> out[cols]
/// @pre    out.size() == matrix.cols
/// @throws Error{unsupported_type} when the type is not in the registry
/// @error  none: every weight is exactly what the reference decodes
// Not inlined, for the sake of compile time.
template <class Arch = simd::DefaultArch>
[[gnu::noinline]] void decode_row(const PackedMatrix& matrix, std::size_t i, std::span<float> out) {
  LAZYMOE_EXPECTS(out.size() == matrix.cols);
  visit_format<readable_formats>(matrix.type, [&](auto format) {
    using F = typename decltype(format)::type;
    DecodeKernel<F, Arch>::run(matrix.blocks<F>(i), out.data());
  });
}

#if defined(LAZYMOE_EXTERN_KERNELS)
// A program of many files may compile the kernels once: define this for all of it, and add one file like
// cmake/kernels.cpp, which instantiates them.
extern template void decode_row<simd::DefaultArch>(const PackedMatrix&, std::size_t, std::span<float>);
#endif

}  // namespace lazymoe::quant
