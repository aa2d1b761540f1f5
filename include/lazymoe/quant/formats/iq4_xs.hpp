#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"
#include "iq4_nl.hpp"

namespace lazymoe::quant {

/// 4-bit indices into the table of IQ4_NL, in 8 groups of 32, each with a 6-bit scale; 4.25 bits per weight.
///     w[i] = d * scale[i / 32] * iq4_values[q[i]],   q in [0, 15],   scale in [-32, 31]
/// @source ggml-common.h, block_iq4_xs
struct IQ4_XS {
  static constexpr TypeId id = TypeId::iq4_xs;
  static constexpr std::string_view name = "IQ4_XS";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 8;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    std::array<std::uint8_t, 2> scales_high;          ///< byte g/4, bits 2(g%4) and the next: high 2 bits of group g
    std::array<std::uint8_t, groups / 2> scales_low;  ///< byte g/2, nibble g%2: low 4 bits of group g
    std::array<std::uint8_t, block_elems / 2> q;      ///< byte 16g + l: weights 32g + l low, 32g + 16 + l high nibble
  };
  static_assert(sizeof(Block) == 136 && alignof(Block) == 1);

  static constexpr int group_scale(const Block& block, std::size_t g) noexcept {
    const int low = (block.scales_low[g / 2] >> (4 * (g % 2))) & 15;
    const int high = (block.scales_high[g / 4] >> (2 * (g % 4))) & 3;
    return (low | high << 4) - 32;
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t g = 0; g < groups; ++g) {
      const float a = d * static_cast<float>(group_scale(block, g));
      for (std::size_t l = 0; l < 16; ++l) {
        const unsigned pair = block.q[16 * g + l];
        out[32 * g + l] = a * static_cast<float>(iq4_values[pair & 15U]);
        out[32 * g + 16 + l] = a * static_cast<float>(iq4_values[pair >> 4]);
      }
    }
  }
};
static_assert(BlockFormat<IQ4_XS>);

}  // namespace lazymoe::quant
