#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace lazymoe::quant {

/// Number of a tensor type in a GGUF file. Any value can come from a file; `layouts` (registry.hpp) knows
/// which are readable.
/// @source ggml.h, enum ggml_type
enum class TypeId : std::uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q8_1 = 9,
  q2_K = 10,
  q3_K = 11,
  q4_K = 12,
  q5_K = 13,
  q6_K = 14,
  q8_K = 15,
  iq2_xxs = 16,
  iq2_xs = 17,
  iq3_xxs = 18,
  iq1_s = 19,
  iq4_nl = 20,
  iq3_s = 21,
  iq2_s = 22,
  iq4_xs = 23,
  i8 = 24,
  i16 = 25,
  i32 = 26,
  i64 = 27,
  f64 = 28,
  iq1_m = 29,
  bf16 = 30,
  tq1_0 = 34,
  tq2_0 = 35,
  mxfp4 = 39,
  nvfp4 = 40,
  q1_0 = 41,
  q2_0 = 42,
};

/// How a float vector is rounded before it meets a weight row: the pairing of the reference, so that
/// logits agree with it.
enum class ActivationKind : std::uint8_t {
  f32,   ///< not rounded
  f16,   ///< to half
  bf16,  ///< to bfloat16
  q8_0,  ///< 32 int8 and a half scale
  q8_1,  ///< the same and the scaled sum
  q8_K,  ///< 256 int8, a float scale and sums of 16
};

/// A block format: how `block_elems` weights are packed into `sizeof(Block)` bytes of a file.
///
/// Laws, checked for every format by tests/quant/format_laws.hpp:
///   1. sizeof(Block) is the size of a block in the file, alignof(Block) is 1 (files align nothing), and
///      every bit pattern is a block
///   2. decode is exact: bit for bit what the reference library decodes (golden blocks). Scale, group scale
///      and weight have at most 24 significant bits together, so each product is exact in a float, and a compiler
///      that fuses it with the sum changes nothing. Numbers kept as data (formats/data.hpp) go to the nearest float
///   3. wire numbers are unique (registry.hpp does not compile otherwise)
template <class F>
concept BlockFormat = std::is_empty_v<F> && std::is_trivially_copyable_v<typename F::Block> &&
                      requires(const typename F::Block& block, std::span<float, F::block_elems> out) {
                        { F::id } -> std::convertible_to<TypeId>;
                        { F::name } -> std::convertible_to<std::string_view>;
                        { F::block_elems } -> std::convertible_to<std::size_t>;
                        { F::decode(block, out) } noexcept -> std::same_as<void>;
                      };

/// A block format that matrices of weights have: `activation` is what their rows are multiplied with. Formats
/// without one are data; they can be read and decoded only.
template <class F>
concept WeightFormat = BlockFormat<F> && requires {
  { F::activation } -> std::convertible_to<ActivationKind>;
};

/// Bytes of one block of `F` in a file.
template <BlockFormat F>
inline constexpr std::size_t block_bytes = sizeof(typename F::Block);

/// Bytes of a row of `cols` weights.
/// @pre cols is a multiple of F::block_elems
template <BlockFormat F>
[[nodiscard]] constexpr std::size_t row_bytes(std::size_t cols) noexcept {
  return cols / F::block_elems * block_bytes<F>;
}

}  // namespace lazymoe::quant
