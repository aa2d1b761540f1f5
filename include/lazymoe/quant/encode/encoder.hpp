#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>

#include "../format.hpp"

namespace lazymoe::quant {

/// Packs one block of `F`: scalar, without knowledge of the activations it will meet. Not every format has one.
template <BlockFormat F>
struct Encoder;

/// A format that can be written, too.
///
/// Laws, checked for every such format by tests/quant/encode_test.cpp:
///   1. decode(encode(x)) is within Encoder<F>::error * max|x| of x, x finite and neither tiny nor huge:
///      the scale is a normal half
///   2. over Gaussian rows the mean square error is at most 1.05 times that of the reference's encoder
template <class F>
concept EncodableFormat = BlockFormat<F> && requires(std::span<const float, F::block_elems> x) {
  { Encoder<F>::error } -> std::convertible_to<float>;
  { Encoder<F>::run(x) } -> std::same_as<typename F::Block>;
};

namespace detail {

/// The element of largest magnitude, with its sign; the first one on ties.
inline float signed_max(std::span<const float> x) noexcept {
  float largest = x[0];
  for (const float v : x) largest = std::abs(v) > std::abs(largest) ? v : largest;
  return largest;
}

/// 1 / d, or 0 where that has no finite value: such a block is zeros, or its d rounds to 0 anyway.
inline float reciprocal(float d) noexcept { return std::abs(d) < 0x1p-126F ? 0.0F : 1.0F / d; }

}  // namespace detail

}  // namespace lazymoe::quant
