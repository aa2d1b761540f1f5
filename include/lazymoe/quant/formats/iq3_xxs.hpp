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

/// Entries of a grid of 256 for 4 weights, 7 signs for 8, in 8 groups of 32, each with a 4-bit scale; 3.0625 bits
/// per weight.
///     w[i] = d * (scale[i / 32] + 0.5) / 2 * grid[index[i / 4]][i % 4] * sign[i],   scale in [0, 15]
/// @source ggml-common.h, block_iq3_xxs
struct IQ3_XXS {
  static constexpr TypeId id = TypeId::iq3_xxs;
  static constexpr std::string_view name = "IQ3_XXS";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 8;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    std::array<std::uint8_t, block_elems / 4> index;              ///< byte k: weights 4k .. 4k + 3
    std::array<std::array<std::uint8_t, 4>, groups> signs_scale;  ///< of a group, as in IQ2_XXS
  };
  static_assert(sizeof(Block) == 98 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t g = 0; g < groups; ++g) {
      const std::uint32_t packed = four_bytes(block.signs_scale[g]);
      const float a = d * (static_cast<float>(packed >> 28) + 0.5F) * 0.5F;
      for (std::size_t k = 0; k < 8; ++k) {
        const unsigned signs = even_signs((packed >> (7 * (k / 2))) & 127U) >> (4 * (k % 2));
        decode_entry(iq3_xxs_grid[block.index[8 * g + k]], signs, a,
                     std::span<float, 4>(out.data() + 32 * g + 4 * k, 4));
      }
    }
  }
};
static_assert(BlockFormat<IQ3_XXS>);

}  // namespace lazymoe::quant
