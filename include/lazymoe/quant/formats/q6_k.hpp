#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 6-bit weights in 16 groups of 16, each with an 8-bit scale; 6.5625 bits per weight.
///     w[i] = d * scale[i / 16] * (q[i] - 32),   q in [0, 63]
/// @source ggml-common.h, block_q6_K
struct Q6_K {
  static constexpr TypeId id = TypeId::q6_K;
  static constexpr std::string_view name = "Q6_K";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 16;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  /// Both halves of 128 weights are packed alike, as four runs of 32: run r of half h.
  struct Block {
    std::array<std::uint8_t, block_elems / 2> low;   ///< byte 64h + 32(r%2) + l, nibble r/2: low 4 bits
    std::array<std::uint8_t, block_elems / 4> high;  ///< byte 32h + l, bits 2r and 2r+1: high 2 bits
    std::array<std::int8_t, groups> scales;
    Half d;
  };
  static_assert(sizeof(Block) == 210 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t run = 0; run < 8; ++run) {
      const std::size_t h = run / 4;
      const std::size_t r = run % 4;
      for (std::size_t l = 0; l < 32; ++l) {
        const int low = (block.low[64 * h + 32 * (r % 2) + l] >> (4 * (r / 2))) & 15;
        const int high = (block.high[32 * h + l] >> (2 * r)) & 3;
        const float a = d * static_cast<float>(block.scales[2 * run + l / 16]);
        out[32 * run + l] = a * static_cast<float>((low | high << 4) - 32);
      }
    }
  }
};
static_assert(BlockFormat<Q6_K>);

}  // namespace lazymoe::quant
