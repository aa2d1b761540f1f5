#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 4-bit weights in groups of 32 with a scale and an offset; 5 bits per weight.
///     w[i] = d * q[i] + m,   q in [0, 15]
/// @source ggml-common.h, block_q4_1
struct Q4_1 {
  static constexpr TypeId id = TypeId::q4_1;
  static constexpr std::string_view name = "Q4_1";
  static constexpr std::size_t block_elems = 32;
  static constexpr ActivationKind activation = ActivationKind::q8_1;

  struct Block {
    Half d;
    Half m;
    std::array<std::uint8_t, block_elems / 2> q;  ///< low nibbles: weights 0-15, high nibbles: 16-31
  };
  static_assert(sizeof(Block) == 20 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    const float m = to_float(block.m);
    for (std::size_t l = 0; l < 16; ++l) {
      out[l] = d * static_cast<float>(block.q[l] & 15) + m;
      out[l + 16] = d * static_cast<float>(block.q[l] >> 4) + m;
    }
  }
};
static_assert(BlockFormat<Q4_1>);

}  // namespace lazymoe::quant
