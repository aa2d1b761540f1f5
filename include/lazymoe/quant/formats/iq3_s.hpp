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

/// Entries of a grid of 512 for 4 weights with a sign for each weight, in 8 groups of 32, each with a 4-bit scale;
/// 3.4375 bits per weight.
///     w[i] = d * (2 * scale[i / 32] + 1) * grid[index[i / 4]][i % 4] * sign[i],   scale in [0, 15]
/// @source ggml-common.h, block_iq3_s
struct IQ3_S {
  static constexpr TypeId id = TypeId::iq3_s;
  static constexpr std::string_view name = "IQ3_S";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 8;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    std::array<std::uint8_t, block_elems / 4> index_low;  ///< byte k: weights 4k .. 4k + 3
    std::array<std::uint8_t, groups> index_high;          ///< byte k/8, bit k%8: the ninth bit
    std::array<std::uint8_t, block_elems / 8> signs;      ///< byte l, bit e: weight 8l + e is negative
    std::array<std::uint8_t, groups / 2> scales;          ///< byte g/2, nibble g%2: group g
  };
  static_assert(sizeof(Block) == 110 && alignof(Block) == 1);

  [[gnu::always_inline]] static constexpr std::size_t index(const Block& block, std::size_t k) noexcept {
    const unsigned high = (static_cast<unsigned>(block.index_high[k / 8]) >> (k % 8)) & 1U;
    return block.index_low[k] | high << 8;
  }

  static constexpr unsigned group_scale(const Block& block, std::size_t g) noexcept {
    return (static_cast<unsigned>(block.scales[g / 2]) >> (4 * (g % 2))) & 15U;
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t k = 0; k < block_elems / 4; ++k) {
      const float a = d * static_cast<float>(2 * group_scale(block, k / 8) + 1);
      const unsigned signs = static_cast<unsigned>(block.signs[k / 2]) >> (4 * (k % 2));
      decode_entry(iq3_s_grid[index(block, k)], signs, a, std::span<float, 4>(out.data() + 4 * k, 4));
    }
  }
};
static_assert(BlockFormat<IQ3_S>);

}  // namespace lazymoe::quant
