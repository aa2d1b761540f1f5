#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "../format.hpp"
#include "../half.hpp"

namespace lazymoe::quant {

/// IEEE binary32: a block is one number.
struct F32 {
  static constexpr TypeId id = TypeId::f32;
  static constexpr std::string_view name = "F32";
  static constexpr std::size_t block_elems = 1;
  static constexpr ActivationKind activation = ActivationKind::f32;

  struct [[gnu::packed]] Block {
    float value;
  };
  static_assert(sizeof(Block) == 4 && alignof(Block) == 1);

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept { out[0] = block.value; }
};
static_assert(BlockFormat<F32>);

/// IEEE binary16: a block is one number.
struct F16 {
  static constexpr TypeId id = TypeId::f16;
  static constexpr std::string_view name = "F16";
  static constexpr std::size_t block_elems = 1;
  static constexpr ActivationKind activation = ActivationKind::f16;

  using Block = Half;

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    out[0] = to_float(block);
  }
};
static_assert(BlockFormat<F16>);

/// The upper half of an IEEE binary32: a block is one number.
struct BF16 {
  static constexpr TypeId id = TypeId::bf16;
  static constexpr std::string_view name = "BF16";
  static constexpr std::size_t block_elems = 1;
  static constexpr ActivationKind activation = ActivationKind::bf16;

  using Block = BFloat16;

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    out[0] = to_float(block);
  }
};
static_assert(BlockFormat<BF16>);

}  // namespace lazymoe::quant
