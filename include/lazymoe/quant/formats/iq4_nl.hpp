#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// What the 16 indices of IQ4_NL and IQ4_XS stand for: finer near zero, where weights crowd.
/// @source ggml-common.h, kvalues_iq4nl
inline constexpr std::array<std::int8_t, 16> iq4_values = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                           1,    13,   25,  38,  53,  69,  89,  113};

/// 4-bit indices into a table, in groups of 32 with one scale; 4.5 bits per weight.
///     w[i] = d * iq4_values[q[i]],   q in [0, 15]
/// @source ggml-common.h, block_iq4_nl
struct IQ4_NL {
  static constexpr TypeId id = TypeId::iq4_nl;
  static constexpr std::string_view name = "IQ4_NL";
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
      out[l] = d * static_cast<float>(iq4_values[block.q[l] & 15U]);
      out[l + 16] = d * static_cast<float>(iq4_values[block.q[l] >> 4]);
    }
  }
};
static_assert(BlockFormat<IQ4_NL>);

}  // namespace lazymoe::quant
