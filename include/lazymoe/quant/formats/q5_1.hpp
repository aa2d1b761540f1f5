#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 5-bit weights in groups of 32 with a scale and an offset; 6 bits per weight.
///     w[i] = d * q[i] + m,   q in [0, 31]
/// @source ggml-common.h, block_q5_1
struct Q5_1 {
  static constexpr TypeId id = TypeId::q5_1;
  static constexpr std::string_view name = "Q5_1";
  static constexpr std::size_t block_elems = 32;
  static constexpr ActivationKind activation = ActivationKind::q8_1;

  struct Block {
    Half d;
    Half m;
    std::array<std::uint8_t, 4> high;               ///< byte i/8, bit i%8: the fifth bit of weight i
    std::array<std::uint8_t, block_elems / 2> low;  ///< low nibbles: weights 0-15, high nibbles: 16-31
  };
  static_assert(sizeof(Block) == 24 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    const float m = to_float(block.m);
    for (std::size_t i = 0; i < block_elems; ++i) {
      const int low = (block.low[i % 16] >> (4 * (i / 16))) & 15;
      const int high = (block.high[i / 8] >> (i % 8)) & 1;
      out[i] = d * static_cast<float>(low | high << 4) + m;
    }
  }
};
static_assert(BlockFormat<Q5_1>);

}  // namespace lazymoe::quant
