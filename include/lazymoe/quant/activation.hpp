#pragma once

#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../simd/arch.hpp"
#include "activation_block.hpp"
#include "kernels/quantize.hpp"

namespace lazymoe::quant {

/// Rounds a vector to the blocks its weights are multiplied with: once per matrix product, whatever the
/// number of rows.
///
/// @shape   x[n] -> out[n / block_elems]
/// @pre     n is a multiple of block_elems and out has that many blocks
/// @post    the same bytes on every ISA if x is finite; otherwise defined but meaningless ones
/// @cost    about 0.2 ns an element with AVX2
/// @thread  pure; allocates nothing
template <ActivationKind Kind, class Arch = simd::DefaultArch>
void quantize(std::span<const float> x, std::span<typename ActivationTraits<Kind>::Block> out) noexcept {
  LAZYMOE_EXPECTS(x.size() == out.size() * ActivationTraits<Kind>::block_elems);
  QuantizeKernel<Kind, Arch>::run(x, out.data());
}

/// Calls fn.operator()<Kind>() for a kind known at run time.
template <class Fn>
decltype(auto) visit_activation(ActivationKind kind, Fn&& fn) {
  switch (kind) {
    case ActivationKind::f16: return fn.template operator()<ActivationKind::f16>();
    case ActivationKind::bf16: return fn.template operator()<ActivationKind::bf16>();
    case ActivationKind::q8_0: return fn.template operator()<ActivationKind::q8_0>();
    case ActivationKind::q8_1: return fn.template operator()<ActivationKind::q8_1>();
    case ActivationKind::q8_K: return fn.template operator()<ActivationKind::q8_K>();
    case ActivationKind::f32: break;
  }
  return fn.template operator()<ActivationKind::f32>();
}

/// Bytes that quantize_activation() writes for `n` numbers; a multiple of 4.
/// @pre n is a multiple of the kind's block_elems
[[nodiscard]] inline std::size_t activation_bytes(ActivationKind kind, std::size_t n) noexcept {
  return visit_activation(kind, [n]<ActivationKind Kind>() {
    return n / ActivationTraits<Kind>::block_elems * sizeof(typename ActivationTraits<Kind>::Block);
  });
}

/// quantize() for a kind known at run time.
/// @pre out has activation_bytes(kind, x.size()) bytes and is aligned to 64
inline void quantize_activation(ActivationKind kind, std::span<const float> x, std::span<std::byte> out) noexcept {
  LAZYMOE_EXPECTS(out.size() == activation_bytes(kind, x.size()));
  visit_activation(kind, [&]<ActivationKind Kind>() {
    using Block = typename ActivationTraits<Kind>::Block;
    quantize<Kind>(x, {reinterpret_cast<Block*>(out.data()), out.size() / sizeof(Block)});
  });
}

}  // namespace lazymoe::quant
