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

/// Entries of a grid of 2048 for 8 weights of -1, 0 or 1, each shifted up or down by one eighth, in 16 groups of 16
/// with a 3-bit scale each; 1.75 bits per weight.
///     w[i] = d * (2 * scale[i / 16] + 1) * (grid[index[i / 8]][i % 8] +- 1/8),   scale in [0, 7]
/// @source ggml-common.h, block_iq1_m
struct IQ1_M {
  static constexpr TypeId id = TypeId::iq1_m;
  static constexpr std::string_view name = "IQ1_M";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 16;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    std::array<std::uint8_t, block_elems / 8> index_low;  ///< byte l: weights 8l .. 8l + 7
    std::array<std::uint8_t, block_elems / 16> high;      ///< byte l/2, nibble l%2: 3 bits of index, then shift down
    std::array<std::array<std::uint8_t, 2>, 4> scales;    ///< 16 bits: scales 4j .. 4j + 3, then a nibble of d
  };
  static_assert(sizeof(Block) == 56 && alignof(Block) == 1);

  /// The scale of the block, of which every word of `scales` holds 4 bits on top.
  static constexpr Half scale(const Block& block) noexcept {
    unsigned bits = 0;
    for (unsigned j = 0; j < 4; ++j) bits |= two_bytes(block.scales[j]) >> 12 << (4 * j);
    return {static_cast<std::uint16_t>(bits)};
  }

  [[gnu::always_inline]] static constexpr std::size_t index(const Block& block, std::size_t l) noexcept {
    return block.index_low[l] | ((static_cast<unsigned>(block.high[l / 2]) >> (4 * (l % 2))) & 7U) << 8;
  }

  static constexpr unsigned group_scale(const Block& block, std::size_t g) noexcept {
    return (two_bytes(block.scales[g / 4]) >> (3 * (g % 4))) & 7U;
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(scale(block));
    for (std::size_t l = 0; l < block_elems / 8; ++l) {
      const float a = d * static_cast<float>(2 * group_scale(block, l / 2) + 1);
      const float shift = (block.high[l / 2] >> (4 * (l % 2)) & 8) != 0 ? -0.125F : 0.125F;
      const auto entry = iq1_grid[index(block, l)];
      for (std::size_t e = 0; e < 8; ++e) out[8 * l + e] = a * (static_cast<float>(grid_value(entry, e)) + shift);
    }
  }
};
static_assert(BlockFormat<IQ1_M>);

}  // namespace lazymoe::quant
