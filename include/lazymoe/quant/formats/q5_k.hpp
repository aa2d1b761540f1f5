#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"
#include "q4_k.hpp"

namespace lazymoe::quant {

/// Q4_K with a fifth bit per weight; 5.5 bits per weight.
///     w[i] = d * scale[g] * q[i] - dmin * min[g],   g = i / 32,   q in [0, 31]
/// @source ggml-common.h, block_q5_K
struct Q5_K {
  static constexpr TypeId id = TypeId::q5_K;
  static constexpr std::string_view name = "Q5_K";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 8;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    Half dmin;
    std::array<std::uint8_t, 12> scales;            ///< as in Q4_K
    std::array<std::uint8_t, 32> high;              ///< byte l, bit g: the fifth bit of weight 32g+l
    std::array<std::uint8_t, block_elems / 2> low;  ///< byte 32p+l: group 2p low, group 2p+1 high nibble
  };
  static_assert(sizeof(Block) == 176 && alignof(Block) == 1);

  static constexpr GroupParams group_params(const Block& block, std::size_t g) noexcept {
    return unpack_group_params(block.scales, g);
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    const float dmin = to_float(block.dmin);
    for (std::size_t g = 0; g < groups; ++g) {
      const auto [scale, min] = group_params(block, g);
      const float a = d * static_cast<float>(scale);
      const float b = dmin * static_cast<float>(min);
      const unsigned shift = g % 2 == 0 ? 0 : 4;
      for (std::size_t l = 0; l < 32; ++l) {
        const unsigned q = ((block.low[32 * (g / 2) + l] >> shift) & 15U) | (((block.high[l] >> g) & 1U) << 4);
        out[32 * g + l] = a * static_cast<float>(q) - b;
      }
    }
  }
};
static_assert(BlockFormat<Q5_K>);

}  // namespace lazymoe::quant
