#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"
#include "grids.hpp"

namespace lazymoe::quant {

/// Entries of a grid of 1024 with a sign for each weight, in 16 groups of 16, each with a 4-bit scale; 2.5625 bits
/// per weight.
///     w[i] = d * (scale[i / 16] + 0.5) / 4 * grid[index[i / 8]][i % 8] * sign[i],   scale in [0, 15]
/// @source ggml-common.h, block_iq2_s
struct IQ2_S {
  static constexpr TypeId id = TypeId::iq2_s;
  static constexpr std::string_view name = "IQ2_S";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 16;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    std::array<std::uint8_t, block_elems / 8> index_low;    ///< byte l: weights 8l .. 8l + 7
    std::array<std::uint8_t, block_elems / 8> signs;        ///< byte l, bit e: weight 8l + e is negative
    std::array<std::uint8_t, block_elems / 32> index_high;  ///< byte l/4, bits 2(l%4) and the next
    std::array<std::uint8_t, groups / 2> scales;            ///< byte g/2, nibble g%2: group g
  };
  static_assert(sizeof(Block) == 82 && alignof(Block) == 1);

  [[gnu::always_inline]] static constexpr std::size_t index(const Block& block, std::size_t l) noexcept {
    const unsigned high = (static_cast<unsigned>(block.index_high[l / 4]) >> (2 * (l % 4))) & 3U;
    return block.index_low[l] | high << 8;
  }

  static constexpr unsigned group_scale(const Block& block, std::size_t g) noexcept {
    return (static_cast<unsigned>(block.scales[g / 2]) >> (4 * (g % 2))) & 15U;
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t l = 0; l < block_elems / 8; ++l) {
      const float a = d * (static_cast<float>(group_scale(block, l / 2)) + 0.5F) * 0.25F;
      decode_entry(iq2_s_grid[index(block, l)], block.signs[l], a, std::span<float, 8>(out.data() + 8 * l, 8));
    }
  }
};
static_assert(BlockFormat<IQ2_S>);

}  // namespace lazymoe::quant
