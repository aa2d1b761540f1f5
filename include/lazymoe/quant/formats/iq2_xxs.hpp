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

/// Entries of a grid of 256 with 7 signs for 8 weights, in 8 groups of 32, each with a 4-bit scale; 2.0625 bits
/// per weight.
///     w[i] = d * (scale[i / 32] + 0.5) / 4 * grid[index[i / 8]][i % 8] * sign[i],   scale in [0, 15]
/// @source ggml-common.h, block_iq2_xxs
struct IQ2_XXS {
  static constexpr TypeId id = TypeId::iq2_xxs;
  static constexpr std::string_view name = "IQ2_XXS";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 8;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Group {
    std::array<std::uint8_t, 4> index;        ///< byte l: weights 8l .. 8l + 7
    std::array<std::uint8_t, 4> signs_scale;  ///< bits 7l .. 7l + 6: even_signs() of entry l; bits 28-31: scale
  };

  struct Block {
    Half d;
    std::array<Group, groups> group;
  };
  static_assert(sizeof(Block) == 66 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t g = 0; g < groups; ++g) {
      const std::uint32_t packed = four_bytes(block.group[g].signs_scale);
      const float a = d * (static_cast<float>(packed >> 28) + 0.5F) * 0.25F;
      for (std::size_t l = 0; l < 4; ++l) {
        const auto entry = iq2_xxs_grid[block.group[g].index[l]];
        const unsigned signs = even_signs((packed >> (7 * l)) & 127U);
        decode_entry(entry, signs, a, std::span<float, 8>(out.data() + 32 * g + 8 * l, 8));
      }
    }
  }
};
static_assert(BlockFormat<IQ2_XXS>);

}  // namespace lazymoe::quant
