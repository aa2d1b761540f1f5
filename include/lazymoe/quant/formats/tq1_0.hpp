#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// Ternary weights, five to a byte, in groups of 256 with one scale; 1.6875 bits per weight.
///     w[i] = d * (q[i] - 1),   q in [0, 2]
///
/// A byte holds ceil(v * 256 / 3^5) for the number v of its digits in base 3, the first weight first: multiplied by 3
/// it carries the next digit into the ninth bit.
/// @source ggml-common.h, block_tq1_0
struct TQ1_0 {
  static constexpr TypeId id = TypeId::tq1_0;
  static constexpr std::string_view name = "TQ1_0";
  static constexpr std::size_t block_elems = 256;
  static constexpr ActivationKind activation = ActivationKind::q8_K;

  struct Block {
    std::array<std::uint8_t, 48> q;    ///< digit n of byte l: weight 32n + l, and from byte 32 on 160 + 16n + l - 32
    std::array<std::uint8_t, 4> rest;  ///< digit n of byte l, of four digits: weight 240 + 4n + l
    Half d;
  };
  static_assert(sizeof(Block) == 54 && alignof(Block) == 1);

  /// Digit n of a byte, in [0, 2].
  static constexpr int digit(std::uint8_t byte, std::size_t n) noexcept {
    constexpr std::array<unsigned, 5> powers = {1, 3, 9, 27, 81};
    return static_cast<int>((byte * powers[n] & 0xFFU) * 3 >> 8);
  }

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    const auto value = [d](std::uint8_t byte, std::size_t n) { return d * static_cast<float>(digit(byte, n) - 1); };
    for (std::size_t i = 0; i < 160; ++i) out[i] = value(block.q[i % 32], i / 32);
    for (std::size_t i = 0; i < 80; ++i) out[160 + i] = value(block.q[32 + i % 16], i / 16);
    for (std::size_t i = 0; i < 16; ++i) out[240 + i] = value(block.rest[i % 4], i / 4);
  }
};
static_assert(BlockFormat<TQ1_0>);

}  // namespace lazymoe::quant
