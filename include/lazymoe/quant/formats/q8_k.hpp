#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// Activations in groups of 256 with a float scale and the sums of 16 that serve minimums and offsets of
/// weights; 9.125 bits per number. Data: no file has weights of it.
///     x[i] = d * q[i],   sums[k] = q[16k] + ... + q[16k + 15]
/// @source ggml-common.h, block_q8_K
struct Q8_K {
  static constexpr TypeId id = TypeId::q8_K;
  static constexpr std::string_view name = "Q8_K";
  static constexpr std::size_t block_elems = 256;

  struct [[gnu::packed]] Block {
    float d;
    std::array<std::int8_t, block_elems> q;
    std::array<std::int16_t, block_elems / 16> sums;
  };
  static_assert(sizeof(Block) == 292 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    for (std::size_t i = 0; i < block_elems; ++i) out[i] = block.d * static_cast<float>(block.q[i]);
  }
};
static_assert(BlockFormat<Q8_K>);

}  // namespace lazymoe::quant
