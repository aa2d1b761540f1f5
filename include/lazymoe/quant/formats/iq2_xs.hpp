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

/// Entries of a grid of 512 with 7 signs for 8 weights, in 16 groups of 16, each with a 4-bit scale; 2.3125 bits
/// per weight.
///     w[i] = d * (scale[i / 16] + 0.5) / 4 * grid[index[i / 8]][i % 8] * sign[i],   scale in [0, 15]
/// @source ggml-common.h, block_iq2_xs
struct IQ2_XS {
  static constexpr TypeId id = TypeId::iq2_xs;
  static constexpr std::string_view name = "IQ2_XS";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 16;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    std::array<std::array<std::uint8_t, 2>, block_elems / 8> index_signs;  ///< 9 bits of index, 7 of even_signs()
    std::array<std::uint8_t, groups / 2> scales;                           ///< byte g/2, nibble g%2: group g
  };
  static_assert(sizeof(Block) == 74 && alignof(Block) == 1);

  [[gnu::always_inline]] static constexpr std::size_t index(const Block& block, std::size_t l) noexcept {
    return two_bytes(block.index_signs[l]) & 511U;
  }

  static constexpr unsigned group_scale(const Block& block, std::size_t g) noexcept {
    return (static_cast<unsigned>(block.scales[g / 2]) >> (4 * (g % 2))) & 15U;
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t l = 0; l < block_elems / 8; ++l) {
      const float a = d * (static_cast<float>(group_scale(block, l / 2)) + 0.5F) * 0.25F;
      const unsigned signs = even_signs(two_bytes(block.index_signs[l]) >> 9);
      decode_entry(iq2_xs_grid[index(block, l)], signs, a, std::span<float, 8>(out.data() + 8 * l, 8));
    }
  }
};
static_assert(BlockFormat<IQ2_XS>);

}  // namespace lazymoe::quant
