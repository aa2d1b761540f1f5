#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 4-bit weights in groups of 32 with one scale; 4.5 bits per weight.
///     w[i] = d * (q[i] - 8),   q in [0, 15]
/// @source ggml-common.h, block_q4_0
struct Q4_0 {
  static constexpr TypeId id = TypeId::q4_0;
  static constexpr std::string_view name = "Q4_0";
  static constexpr std::size_t block_elems = 32;
  static constexpr ActivationKind activation = ActivationKind::q8_0;

  struct Block {
    Half d;
    std::array<std::uint8_t, block_elems / 2> q;  ///< low nibbles: weights 0-15, high nibbles: 16-31
  };
  static_assert(sizeof(Block) == 18 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t l = 0; l < 16; ++l) {
      out[l] = d * static_cast<float>((block.q[l] & 15) - 8);
      out[l + 16] = d * static_cast<float>((block.q[l] >> 4) - 8);
    }
  }
};
static_assert(BlockFormat<Q4_0>);

}  // namespace lazymoe::quant
