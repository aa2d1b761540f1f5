#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// Activations in groups of 32 with one scale and their sum, which serves weights with an offset; 9 bits
/// per number. Data: no file has weights of it.
///     x[i] = d * q[i],   s = d * sum q
/// @source ggml-common.h, block_q8_1
struct Q8_1 {
  static constexpr TypeId id = TypeId::q8_1;
  static constexpr std::string_view name = "Q8_1";
  static constexpr std::size_t block_elems = 32;

  struct Block {
    Half d;
    Half s;
    std::array<std::int8_t, block_elems> q;
  };
  static_assert(sizeof(Block) == 36 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t i = 0; i < block_elems; ++i) out[i] = d * static_cast<float>(block.q[i]);
  }
};
static_assert(BlockFormat<Q8_1>);

}  // namespace lazymoe::quant
