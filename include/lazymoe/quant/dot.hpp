#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../simd/arch.hpp"
#include "activation_block.hpp"
#include "format.hpp"
#include "kernels/blocks_of_32.hpp"
#include "kernels/iq1.hpp"
#include "kernels/iq2.hpp"
#include "kernels/iq3.hpp"
#include "kernels/iq4_xs.hpp"
#include "kernels/nvfp4.hpp"
#include "kernels/plain.hpp"
#include "kernels/portable.hpp"
#include "kernels/q1_q2.hpp"
#include "kernels/q2_k.hpp"
#include "kernels/q3_k.hpp"
#include "kernels/q4_k.hpp"
#include "kernels/q5_k.hpp"
#include "kernels/q6_k.hpp"
#include "kernels/reference.hpp"
#include "kernels/ternary.hpp"
#include "kernels/tile.hpp"
#include "kernels/wide_blocks_of_32.hpp"
#include "kernels/wide_panel.hpp"

namespace lazymoe::quant {

/// Dot product of one packed row with a vector quantized for it: the main path of every matrix product.
///
/// @shape   row[n / F::block_elems], x[n / ActivationOf<F>::block_elems] -> scalar
/// @pre     x covers as many elements as row, and comes from one call of quantize(), from any block of it on
/// @error   |result - exact| <= (n + 4) * 2^-24 * sum (|a_i| + |b_i|) * |x_i| to first order, where exact is
///          the real sum over the decoded activation x_i and the weights w_i = a_i + b_i, b_i being the
///          minimum or offset of the format, 0 for most; with activations of kind q8_1 another
///          (2^-10 * |s| + 2^-24) * |m| a block, because the sum s is rounded to half
/// @thread  pure; allocates nothing; equal bytes give equal results wherever they lie
template <BlockFormat F, class Arch = simd::DefaultArch>
[[nodiscard]] float dot(std::span<const typename F::Block> row, const ActivationBlock<F>* x) noexcept {
  return IntDotKernel<F, Arch>::run(row, x);
}

namespace detail {

/// The R rows from `row` on and the T activations from `x` on.
template <BlockFormat F, class Arch, std::size_t R, std::size_t T>
void multiply_tile(const typename F::Block* row, std::size_t blocks, const ActivationBlock<F>* const* x, float* out,
                   std::size_t stride) noexcept {
  if constexpr (HasTiles<F, Arch>) {
    std::array<const typename F::Block*, R> rows;
    for (std::size_t r = 0; r < R; ++r) rows[r] = row + r * blocks;
    std::array<const ActivationBlock<F>*, T> activations;
    for (std::size_t t = 0; t < T; ++t) activations[t] = x[t];
    const auto totals = IntDotKernel<F, Arch>::template tile<R, T, T == 1>(rows, activations, blocks);
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t r = 0; r < R; ++r) out[t * stride + r] = totals[r][t];
    }
  } else {
    for (std::size_t t = 0; t < T; ++t) {
      for (std::size_t r = 0; r < R; ++r) out[t * stride + r] = dot<F, Arch>({row + r * blocks, blocks}, x[t]);
    }
  }
}

/// All rows and the T activations from `x` on, R rows at a time.
template <BlockFormat F, class Arch, std::size_t R, std::size_t T>
void multiply_rows(const typename F::Block* rows, std::size_t n_rows, std::size_t blocks,
                   const ActivationBlock<F>* const* x, float* out, std::size_t stride) noexcept {
  std::size_t r = 0;
  for (; r + R <= n_rows; r += R) multiply_tile<F, Arch, R, T>(rows + r * blocks, blocks, x, out + r, stride);
  for (; r < n_rows; ++r) multiply_tile<F, Arch, 1, T>(rows + r * blocks, blocks, x, out + r, stride);
}

}  // namespace detail

/// Dot products of consecutive packed rows with several activations, the bits of dot(): several activations share the
/// unpacked blocks of a row, up to eight at a time; one activation meets several rows at a time if their blocks are
/// short, so that no row waits for its own sum.
///
/// @shape  rows[n_rows, blocks], x[tokens] -> out[t * stride + r], t < tokens, r < n_rows
/// @pre    each x[t] covers as many elements as a row
/// @thread pure; allocates nothing
/// @cost   rows are read once per eight activations: pass as many rows as the second-level cache holds
template <BlockFormat F, class Arch = simd::DefaultArch>
void dot_panel(const typename F::Block* rows, std::size_t n_rows, std::size_t blocks,
               std::span<const ActivationBlock<F>* const> x, float* out, std::size_t stride) noexcept {
  const auto* const* left = x.data();
  std::size_t n = x.size();
  const auto take = [&]<std::size_t R, std::size_t T>() {
    detail::multiply_rows<F, Arch, R, T>(rows, n_rows, blocks, left, out, stride);
    left += T;
    out += T * stride;
    n -= T;
  };
  if constexpr (HasWidePanel<F, Arch>) {
    using Wide = WidePanel<F, Arch>;
    for (; n >= Wide::activations && Wide::pays(n_rows, blocks); n -= Wide::activations) {
      Wide::run(rows, n_rows, blocks, left, out, stride);
      left += Wide::activations;
      out += Wide::activations * stride;
    }
  }
  if constexpr (HasTiles<F, Arch>) {
    using Kernel = IntDotKernel<F, Arch>;
    constexpr std::size_t widest = Kernel::widest_tile;
    while (n >= widest) take.template operator()<Kernel::template rows_at_once<widest>, widest>();
    if constexpr (widest > 4) {
      if (n >= 4) take.template operator()<Kernel::template rows_at_once<4>, 4>();
    }
    if constexpr (widest > 2) {
      if (n >= 2) take.template operator()<Kernel::template rows_at_once<2>, 2>();
    }
    if (n >= 1) take.template operator()<Kernel::template rows_at_once<1>, 1>();
  } else {
    while (n >= 1) take.template operator()<1, 1>();
  }
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
