#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "../../simd/arch.hpp"
#include "../activation_block.hpp"
#include "../format.hpp"

namespace lazymoe::quant {

/// Kernel of decode_row() for one format on one ISA. The primary template is the reference: scalar, any
/// format. A faster path is a partial specialisation, and gives the same bits.
template <BlockFormat F, class Arch>
struct DecodeKernel {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    for (const auto& block : row) {
      F::decode(block, std::span<float, F::block_elems>(out, F::block_elems));
      out += F::block_elems;
    }
  }
};

/// Kernel of dot_float() for one format on one ISA. The primary template is the reference: scalar, any
/// format. A faster path is a partial specialisation, never an overload.
template <BlockFormat F, class Arch>
struct DotKernel {
  static float run(std::span<const typename F::Block> row, const float* x) noexcept {
    float total = 0.0F;
    std::array<float, F::block_elems> w;
    for (const auto& block : row) {
      F::decode(block, w);
      for (const float wi : w) total += wi * *x++;
    }
    return total;
  }
};

/// Kernel of dot() for one format on one ISA: a row against an activation quantized for it. The primary
/// template is the reference: it decodes both sides. Specialisations sum integers and scale once a block.
///
/// Laws, checked for every format by tests/quant/kernel_laws.hpp:
///   1. within the stated error of dot() of the exact sum, on every ISA
///   2. a function of the bytes: their addresses and neighbours change nothing
template <BlockFormat F, class Arch>
struct IntDotKernel {
  static float run(std::span<const typename F::Block> row, const ActivationBlock<F>* x) noexcept {
    constexpr std::size_t step = ActivationOf<F>::block_elems;
    static_assert(F::block_elems % step == 0);
    float total = 0.0F;
    std::array<float, F::block_elems> w;
    std::array<float, F::block_elems> y;
    for (const auto& block : row) {
      F::decode(block, w);
      for (std::size_t i = 0; i < F::block_elems; i += step) {
        ActivationOf<F>::decode(*x++, std::span<float, step>(y.data() + i, step));
      }
      for (std::size_t i = 0; i < F::block_elems; ++i) total += w[i] * y[i];
    }
    return total;
  }
};

}  // namespace lazymoe::quant
