#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// Scale and minimum of one group of 32 weights, 6 bits each.
struct GroupParams {
  std::uint8_t scale;
  std::uint8_t min;
};

/// Unpacks group `g` of the 8 of Q4_K and Q5_K. Groups 0-3 use the low 6 bits of bytes 0-7; groups 4-7
/// take 4 bits from bytes 8-11 and their top 2 bits from the spare bits of bytes 0-7.
[[nodiscard]] constexpr GroupParams unpack_group_params(const std::array<std::uint8_t, 12>& s, std::size_t g) noexcept {
  const auto field = [](unsigned bits) { return static_cast<std::uint8_t>(bits); };
  if (g < 4) return {field(s[g] & 63U), field(s[g + 4] & 63U)};
  const unsigned scale_top = s[g - 4] >> 6;
  const unsigned min_top = s[g] >> 6;
  return {field((s[g + 4] & 15U) | scale_top << 4), field(s[g + 4] >> 4U | min_top << 4)};
}

/// 4-bit weights in 8 groups of 32, each with a 6-bit scale and a 6-bit minimum; 4.5 bits per weight.
///     w[i] = d * scale[g] * q[i] - dmin * min[g],   g = i / 32,   q in [0, 15]
/// @source ggml-common.h, block_q4_K
struct Q4_K {
  static constexpr TypeId id = TypeId::q4_K;
  static constexpr std::string_view name = "Q4_K";
  static constexpr std::size_t block_elems = 256;
  static constexpr std::size_t groups = 8;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    Half d;
    Half dmin;
    std::array<std::uint8_t, 12> scales;          ///< 8 scales and 8 minimums, see unpack_group_params()
    std::array<std::uint8_t, block_elems / 2> q;  ///< byte 32p+l: group 2p low, group 2p+1 high nibble
  };
  static_assert(sizeof(Block) == 144 && alignof(Block) == 1);

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
        const unsigned q = (block.q[32 * (g / 2) + l] >> shift) & 15U;
        out[32 * g + l] = a * static_cast<float>(q) - b;
      }
    }
  }
};
static_assert(BlockFormat<Q4_K>);

}  // namespace lazymoe::quant
