#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// Signs in groups of 128 with one scale; 1.125 bits per weight.
///     w[i] = q[i] != 0 ? d : -d,   q in [0, 1]
/// @source ggml-common.h, block_q1_0
struct Q1_0 {
  static constexpr TypeId id = TypeId::q1_0;
  static constexpr std::string_view name = "Q1_0";
  static constexpr std::size_t block_elems = 128;
  static constexpr ActivationKind activation = ActivationKind::q8_0;

  struct Block {
    Half d;
    std::array<std::uint8_t, block_elems / 8> q;  ///< bit i % 8 of byte i / 8: weight i
  };
  static_assert(sizeof(Block) == 18 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t i = 0; i < block_elems; ++i) out[i] = (block.q[i / 8] >> (i % 8) & 1U) != 0 ? d : -d;
  }
};
static_assert(BlockFormat<Q1_0>);

}  // namespace lazymoe::quant
