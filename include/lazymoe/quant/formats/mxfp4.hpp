#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// The 16 values of E2M1, doubled to be whole; the scale is halved in return. Minus zero counts as zero.
/// @source ggml-common.h, kvalues_mxfp4
inline constexpr std::array<std::int8_t, 16> mxfp4_values = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// 4-bit floats (E2M1) in groups of 32 with one power of two; 4.25 bits per weight.
///     w[i] = 2^(e - 128) * mxfp4_values[q[i]],   q in [0, 15]
/// @source ggml-common.h, block_mxfp4
struct MXFP4 {
  static constexpr TypeId id = TypeId::mxfp4;
  static constexpr std::string_view name = "MXFP4";
  static constexpr std::size_t block_elems = 32;
  static constexpr ActivationKind activation = ActivationKind::q8_0;

  struct Block {
    E8M0 e;
    std::array<std::uint8_t, block_elems / 2> q;  ///< low nibbles: weights 0-15, high nibbles: 16-31
  };
  static_assert(sizeof(Block) == 17 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.e);
    for (std::size_t l = 0; l < 16; ++l) {
      out[l] = d * static_cast<float>(mxfp4_values[block.q[l] & 15U]);
      out[l + 16] = d * static_cast<float>(mxfp4_values[block.q[l] >> 4]);
    }
  }
};
static_assert(BlockFormat<MXFP4>);

}  // namespace lazymoe::quant
