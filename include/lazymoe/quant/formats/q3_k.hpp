#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 3-bit weights in 16 groups of 16, each with a 6-bit scale; 3.4375 bits per weight.
///     w[i] = d * scale[i / 16] * (q[i] - 4),   q in [0, 7],   scale in [-32, 31]
/// @source ggml-common.h, block_q3_K
struct Q3_K {
  static constexpr TypeId id = TypeId::q3_K;
  static constexpr std::string_view name = "Q3_K";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 16;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  /// Both halves of 128 weights are packed alike, as four runs of 32: run r of half h.
  struct Block {
    std::array<std::uint8_t, block_elems / 8> high;  ///< byte l, bit 4h + r: the third bit
    std::array<std::uint8_t, block_elems / 4> low;   ///< byte 32h + l, bits 2r and 2r+1
    std::array<std::uint8_t, 12> scales;             ///< see group_scale()
    Half d;
  };
  static_assert(sizeof(Block) == 110 && alignof(Block) == 1);

  /// Unpacks the scale of group `g`: 4 bits from a nibble of bytes 0-7, groups 8-15 in the high ones, and 2
  /// bits from bytes 8-11, of which each serves the groups with its number modulo 4.
  static constexpr int group_scale(const Block& block, std::size_t g) noexcept {
    const int low = (block.scales[g % 8] >> (4 * (g / 8))) & 15;
    const int high = (block.scales[8 + g % 4] >> (2 * (g / 4))) & 3;
    return (low | high << 4) - 32;
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t i = 0; i < block_elems; ++i) {
      const int low = (block.low[32 * (i / 128) + i % 32] >> (2 * (i % 128 / 32))) & 3;
      const int high = (block.high[i % 32] >> (i / 32)) & 1;
      const float a = d * static_cast<float>(group_scale(block, i / 16));
      out[i] = a * static_cast<float>((low | high << 2) - 4);
    }
  }
};
static_assert(BlockFormat<Q3_K>);

}  // namespace lazymoe::quant
