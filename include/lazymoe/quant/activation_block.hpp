#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "format.hpp"
#include "half.hpp"

namespace lazymoe::quant {

/// 32 numbers as int8 and a scale: y[i] = d * q[i]. The scale is a half's value kept as a float, so that
/// dot products need not convert it for every row. A cache line: no load crosses one, and what is left of it holds the
/// scales of the seven blocks that follow in the row, so that one load has those of eight.
struct alignas(64) ActivationQ8_0 {
  std::array<std::int8_t, 32> q;
  float d;
  std::array<float, 7> next;
};
static_assert(sizeof(ActivationQ8_0) == 64);

/// The same and the scaled sum s = d * (q[0] + .. + q[31]), a half's value too; what a minimum multiplies.
struct ActivationQ8_1 {
  float d;
  float s;
  std::array<std::int8_t, 32> q;
};
static_assert(sizeof(ActivationQ8_1) == 40);

/// 256 numbers as int8, a scale, and the sums of 16 and of 32 that serve minimums and offsets of weights:
/// y[i] = d * q[i]. The numbers of the format Q8_K, placed so that no load of 32 bytes crosses a cache line.
struct alignas(64) ActivationQ8_K {
  std::array<std::int8_t, 256> q;
  std::array<std::int16_t, 16> sums;
  std::array<std::int16_t, 8> sums_of_32;
  float d;
};
static_assert(sizeof(ActivationQ8_K) == 320);

namespace detail {

/// Nearest, ties to even (the mode a program starts in), clamped to int8. Anything that is no number below
/// 2^63 gives -128 on x86, as the vector path does.
[[nodiscard]] inline std::int8_t round_to_int8(float value) noexcept {
  return static_cast<std::int8_t>(std::clamp(std::lrint(value), -128L, 127L));
}

/// Largest magnitude; NaN is passed over.
[[nodiscard]] inline float max_magnitude(std::span<const float> x) noexcept {
  float largest = 0.0F;
  for (const float v : x) largest = std::fabs(v) > largest ? std::fabs(v) : largest;
  return largest;
}

}  // namespace detail

/// How one block of an activation is rounded and read back: the scalar reference of both.
///
/// Members: Block, block_elems, quantize(x, block), decode(block, out); and, where blocks of a row know one another,
/// link(row) for when all are quantized.
/// Laws, checked by tests/quant/activation_block_test.cpp:
///   1. bit for bit the values of the reference library on x86
///   2. numbers that are not finite give a defined but meaningless block
template <ActivationKind Kind>
struct ActivationTraits;

template <>
struct ActivationTraits<ActivationKind::f32> {
  using Block = float;
  static constexpr std::size_t block_elems = 1;

  static void quantize(std::span<const float, 1> x, Block& block) noexcept { block = x[0]; }
  static void decode(const Block& block, std::span<float, 1> out) noexcept { out[0] = block; }
};

/// A half's value kept as a float: dot products would convert it for every row.
template <>
struct ActivationTraits<ActivationKind::f16> {
  using Block = float;
  static constexpr std::size_t block_elems = 1;

  static void quantize(std::span<const float, 1> x, Block& block) noexcept { block = to_float(to_half(x[0])); }
  static void decode(const Block& block, std::span<float, 1> out) noexcept { out[0] = block; }
};

/// Likewise.
template <>
struct ActivationTraits<ActivationKind::bf16> {
  using Block = float;
  static constexpr std::size_t block_elems = 1;

  static void quantize(std::span<const float, 1> x, Block& block) noexcept { block = to_float(to_bfloat16(x[0])); }
  static void decode(const Block& block, std::span<float, 1> out) noexcept { out[0] = block; }
};

/// d = half(max|x| / 127), q = x * (127 / max|x|).
/// @source quantize_row_q8_0 for x86
template <>
struct ActivationTraits<ActivationKind::q8_0> {
  using Block = ActivationQ8_0;
  static constexpr std::size_t block_elems = 32;

  static void quantize(std::span<const float, 32> x, Block& block) noexcept {
    const float largest = detail::max_magnitude(x);
    const float inverse = largest != 0.0F ? 127.0F / largest : 0.0F;
    block.d = to_float(to_half(largest / 127.0F));
    for (std::size_t i = 0; i < 32; ++i) block.q[i] = detail::round_to_int8(x[i] * inverse);
  }

  /// Zeros follow the last block.
  static void link(std::span<Block> row) noexcept {
    for (std::size_t b = 0; b < row.size(); ++b) {
      auto& next = row[b].next;
      if (b + next.size() < row.size()) {
        for (std::size_t i = 0; i < 7; ++i) next[i] = row[b + i + 1].d;
      } else {
        next.fill(0.0F);
        for (std::size_t i = 0; b + i + 1 < row.size(); ++i) next[i] = row[b + i + 1].d;
      }
    }
  }

  static void decode(const Block& block, std::span<float, 32> out) noexcept {
    for (std::size_t i = 0; i < 32; ++i) out[i] = block.d * static_cast<float>(block.q[i]);
  }
};

/// As q8_0; s is rounded from the unrounded scale.
/// @source quantize_row_q8_1 for x86
template <>
struct ActivationTraits<ActivationKind::q8_1> {
  using Block = ActivationQ8_1;
  static constexpr std::size_t block_elems = 32;

  static void quantize(std::span<const float, 32> x, Block& block) noexcept {
    const float largest = detail::max_magnitude(x);
    const float inverse = largest != 0.0F ? 127.0F / largest : 0.0F;
    const float d = largest / 127.0F;
    int sum = 0;
    for (std::size_t i = 0; i < 32; ++i) {
      block.q[i] = detail::round_to_int8(x[i] * inverse);
      sum += block.q[i];
    }
    block.d = to_float(to_half(d));
    block.s = to_float(to_half(d * static_cast<float>(sum)));
  }

  static void decode(const Block& block, std::span<float, 32> out) noexcept {
    for (std::size_t i = 0; i < 32; ++i) out[i] = block.d * static_cast<float>(block.q[i]);
  }
};

/// The number of largest magnitude, the first one if several, becomes -127: d = 1 / (-127 / x[largest]).
/// @source quantize_row_q8_K
template <>
struct ActivationTraits<ActivationKind::q8_K> {
  using Block = ActivationQ8_K;
  static constexpr std::size_t block_elems = 256;

  static void quantize(std::span<const float, 256> x, Block& block) noexcept {
    const float magnitude = detail::max_magnitude(x);
    if (magnitude == 0.0F) {
      block = {};
      return;
    }
    const float largest = *std::ranges::find_if(x, [=](float v) { return std::fabs(v) == magnitude; });
    const float inverse = -127.0F / largest;
    block.d = 1.0F / inverse;
    block.sums.fill(0);
    for (std::size_t i = 0; i < 256; ++i) {
      block.q[i] = detail::round_to_int8(x[i] * inverse);
      auto& sum = block.sums[i / 16];
      sum = static_cast<std::int16_t>(sum + block.q[i]);
    }
    for (std::size_t g = 0; g < 8; ++g) {
      block.sums_of_32[g] = static_cast<std::int16_t>(block.sums[2 * g] + block.sums[2 * g + 1]);
    }
  }

  static void decode(const Block& block, std::span<float, 256> out) noexcept {
    for (std::size_t i = 0; i < 256; ++i) out[i] = block.d * static_cast<float>(block.q[i]);
  }
};

/// What rows of `F` are multiplied with.
template <WeightFormat F>
using ActivationOf = ActivationTraits<F::activation>;

template <WeightFormat F>
using ActivationBlock = typename ActivationOf<F>::Block;

}  // namespace lazymoe::quant
