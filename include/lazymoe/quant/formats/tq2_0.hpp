#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// Ternary weights, two bits each, in groups of 256 with one scale; 2.0625 bits per weight.
///     w[i] = d * (q[i] - 1),   q in [0, 2]; 3 is not written, but decodes to 2d
/// @source ggml-common.h, block_tq2_0
struct TQ2_0 {
  static constexpr TypeId id = TypeId::tq2_0;
  static constexpr std::string_view name = "TQ2_0";
  static constexpr std::size_t block_elems = 256;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  /// Both halves of 128 weights are packed alike, as four runs of 32: run r of half h.
  struct Block {
    std::array<std::uint8_t, block_elems / 4> q;  ///< byte 32h + l, bits 2r and 2r+1
    Half d;
  };
  static_assert(sizeof(Block) == 66 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t i = 0; i < block_elems; ++i) {
      const int q = block.q[32 * (i / 128) + i % 32] >> (2 * (i % 128 / 32)) & 3;
      out[i] = d * static_cast<float>(q - 1);
    }
  }
};
static_assert(BlockFormat<TQ2_0>);

}  // namespace lazymoe::quant
