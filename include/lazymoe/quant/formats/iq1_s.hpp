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

/// Entries of a grid of 2048 for 8 weights of -1, 0 or 1, in 8 groups of 32, each with a 3-bit scale and a shift
/// of one eighth up or down; 1.5625 bits per weight.
///     w[i] = d * (2 * scale[i / 32] + 1) * (grid[index[i / 8]][i % 8] +- 1/8),   scale in [0, 7]
/// @source ggml-common.h, block_iq1_s
struct IQ1_S {
  static constexpr TypeId id = TypeId::iq1_s;
  static constexpr std::string_view name = "IQ1_S";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 8;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    std::array<std::uint8_t, block_elems / 8> index_low;  ///< byte l: weights 8l .. 8l + 7
    /// Of a group, 16 bits: bits 3j .. 3j + 2 are the high bits of index 4g + j; 12-14: scale; 15: shift down.
    std::array<std::array<std::uint8_t, 2>, groups> high;
  };
  static_assert(sizeof(Block) == 50 && alignof(Block) == 1);

  [[gnu::always_inline]] static constexpr std::size_t index(const Block& block, std::size_t l) noexcept {
    return block.index_low[l] | ((two_bytes(block.high[l / 4]) >> (3 * (l % 4))) & 7U) << 8;
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t g = 0; g < groups; ++g) {
      const unsigned high = two_bytes(block.high[g]);
      const float a = d * static_cast<float>(2 * ((high >> 12) & 7U) + 1);
      const float shift = (high & 0x8000U) != 0 ? -0.125F : 0.125F;
      for (std::size_t l = 0; l < 4; ++l) {
        const auto entry = iq1_grid[index(block, 4 * g + l)];
        for (std::size_t e = 0; e < 8; ++e) {
          out[32 * g + 8 * l + e] = a * (static_cast<float>(grid_value(entry, e)) + shift);
        }
      }
    }
  }
};
static_assert(BlockFormat<IQ1_S>);

}  // namespace lazymoe::quant
