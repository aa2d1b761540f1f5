#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// 2-bit weights in groups of 64 with one scale; 2.25 bits per weight.
///     w[i] = d * (q[i] - 1),   q in [0, 3]
/// @source ggml-common.h, block_q2_0
struct Q2_0 {
  static constexpr TypeId id = TypeId::q2_0;
  static constexpr std::string_view name = "Q2_0";
  static constexpr std::size_t block_elems = 64;
  static constexpr ActivationKind activation = ActivationKind::q8_0;

  struct Block {
    Half d;
    std::array<std::uint8_t, block_elems / 4> q;  ///< byte i / 4, two bits from 2 * (i % 4) on: weight i
  };
  static_assert(sizeof(Block) == 18 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t i = 0; i < block_elems; ++i) {
      const int q = block.q[i / 4] >> (2 * (i % 4)) & 3;
      out[i] = d * static_cast<float>(q - 1);
    }
  }
};
static_assert(BlockFormat<Q2_0>);

}  // namespace lazymoe::quant
