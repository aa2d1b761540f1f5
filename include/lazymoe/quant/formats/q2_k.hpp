#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 2-bit weights in 16 groups of 16, each with a 4-bit scale and a 4-bit minimum; 2.625 bits per weight.
///     w[i] = d * scale[i / 16] * q[i] - dmin * min[i / 16],   q in [0, 3]
/// @source ggml-common.h, block_q2_K
struct Q2_K {
  static constexpr TypeId id = TypeId::q2_K;
  static constexpr std::string_view name = "Q2_K";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 16;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  /// Both halves of 128 weights are packed alike, as four runs of 32: run r of half h.
  struct Block {
    std::array<std::uint8_t, groups> scales;      ///< low nibble: scale, high nibble: minimum
    std::array<std::uint8_t, block_elems / 4> q;  ///< byte 32h + l, bits 2r and 2r+1
    Half d;
    Half dmin;
  };
  static_assert(sizeof(Block) == 84 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    const float dmin = to_float(block.dmin);
    for (std::size_t i = 0; i < block_elems; ++i) {
      const unsigned group = block.scales[i / 16];
      const unsigned q = (block.q[32 * (i / 128) + i % 32] >> (2 * (i % 128 / 32))) & 3U;
      const float a = d * static_cast<float>(group & 15U);
      const float b = dmin * static_cast<float>(group >> 4);
      out[i] = a * static_cast<float>(q) - b;
    }
  }
};
static_assert(BlockFormat<Q2_K>);

}  // namespace lazymoe::quant
