#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 8-bit weights in groups of 32 with one scale; 8.5 bits per weight.
///     w[i] = d * q[i],   q in [-128, 127]
/// @source ggml-common.h, block_q8_0
struct Q8_0 {
  static constexpr TypeId id = TypeId::q8_0;
  static constexpr std::string_view name = "Q8_0";
  static constexpr std::size_t block_elems = 32;
  static constexpr ActivationKind activation = ActivationKind::q8_0;

  struct Block {
    Half d;
    std::array<std::int8_t, block_elems> q;
  };
  static_assert(sizeof(Block) == 34 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t i = 0; i < block_elems; ++i) out[i] = d * static_cast<float>(block.q[i]);
  }
};
static_assert(BlockFormat<Q8_0>);

}  // namespace lazymoe::quant
