#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"
#include "mxfp4.hpp"

namespace lazymoe::quant {

/// 4-bit floats (E2M1) in four groups of 16, each with a small float as its scale; 4.5 bits per weight.
///     w[i] = scales[i / 16] * mxfp4_values[q[i]],   q in [0, 15]
/// @source ggml-common.h, block_nvfp4
struct NVFP4 {
  static constexpr TypeId id = TypeId::nvfp4;
  static constexpr std::string_view name = "NVFP4";
  static constexpr std::size_t block_elems = 64;
  static constexpr std::size_t groups = 4;
  static constexpr ActivationKind activation = ActivationKind::q8_0;

  struct Block {
    std::array<UE4M3, groups> scales;
    std::array<std::uint8_t, block_elems / 2> q;  ///< byte 8g + l: weights 16g + l (low nibble) and 16g + l + 8
  };
  static_assert(sizeof(Block) == 36 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    for (std::size_t g = 0; g < groups; ++g) {
      const float d = to_float(block.scales[g]);
      for (std::size_t l = 0; l < 8; ++l) {
        const unsigned q = block.q[8 * g + l];
        out[16 * g + l] = d * static_cast<float>(mxfp4_values[q & 15U]);
        out[16 * g + l + 8] = d * static_cast<float>(mxfp4_values[q >> 4]);
      }
    }
  }
};
static_assert(BlockFormat<NVFP4>);

}  // namespace lazymoe::quant
