#pragma once

#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../simd/arch.hpp"
#include "activation_block.hpp"
#include "format.hpp"
#include "kernels/blocks_of_32.hpp"
#include "kernels/iq4_xs.hpp"
#include "kernels/plain.hpp"
#include "kernels/q2_k.hpp"
#include "kernels/q3_k.hpp"
#include "kernels/q4_k.hpp"
#include "kernels/q5_k.hpp"
#include "kernels/q6_k.hpp"
#include "kernels/reference.hpp"

namespace lazymoe::quant {

/// Dot product of one packed row with a vector quantized for it: the main path of every matrix product.
///
/// @shape   row[n / F::block_elems], x[n / ActivationOf<F>::block_elems] -> scalar
/// @pre     x covers as many elements as row
/// @error   |result - exact| <= (n + 4) * 2^-24 * sum (|a_i| + |b_i|) * |x_i| to first order, where exact is
///          the real sum over the decoded activation x_i and the weights w_i = a_i + b_i, b_i being the
///          minimum or offset of the format, 0 for most; with activations of kind q8_1 another
///          (2^-10 * |s| + 2^-24) * |m| a block, because the sum s is rounded to half
/// @thread  pure; allocates nothing; equal bytes give equal results wherever they lie
template <BlockFormat F, class Arch = simd::DefaultArch>
[[nodiscard]] float dot(std::span<const typename F::Block> row, const ActivationBlock<F>* x) noexcept {
  return IntDotKernel<F, Arch>::run(row, x);
}

/// Dot product of one packed row with a vector of floats, decoding on the fly: for experiments with
/// activations that are not rounded. Fast for F32, F16 and BF16 only.
///
/// @shape   row[n / F::block_elems], x[n] -> scalar
/// @pre     x.size() == row.size() * F::block_elems
/// @error   |result - exact| <= (n + 2) * 2^-24 * sum |w_i * x_i|, to first order
/// @thread  pure; allocates nothing
template <BlockFormat F, class Arch = simd::DefaultArch>
[[nodiscard]] float dot_float(std::span<const typename F::Block> row, std::span<const float> x) noexcept {
  LAZYMOE_EXPECTS(x.size() == row.size() * F::block_elems);
  return DotKernel<F, Arch>::run(row, x.data());
}

}  // namespace lazymoe::quant
