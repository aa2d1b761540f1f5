#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../formats/plain.hpp"
#include "../formats/q4_0.hpp"
#include "../formats/q8_0.hpp"
#include "../half.hpp"
#include "encoder.hpp"

namespace lazymoe::quant {

// Formats whose blocks follow from the largest number in them; these have the bytes of the reference.

template <>
struct Encoder<F32> {
  static constexpr float error = 0.0F;

  static F32::Block run(std::span<const float, 1> x) noexcept { return {x[0]}; }
};

template <>
struct Encoder<F16> {
  static constexpr float error = 0x1p-11F;

  static F16::Block run(std::span<const float, 1> x) noexcept { return to_half(x[0]); }
};

template <>
struct Encoder<BF16> {
  static constexpr float error = 0x1p-8F;

  static BF16::Block run(std::span<const float, 1> x) noexcept { return to_bfloat16(x[0]); }
};

/// @source ggml-quants.c, quantize_row_q8_0_ref: the same bits
template <>
struct Encoder<Q8_0> {
  static constexpr float error = 0.57F / 127;  // half a step, and the rounding of d

  static Q8_0::Block run(std::span<const float, 32> x) noexcept {
    const float d = std::abs(detail::signed_max(x)) / 127.0F;
    const float inverse = detail::reciprocal(d);
    Q8_0::Block block{to_half(d), {}};
    for (std::size_t i = 0; i < x.size(); ++i) block.q[i] = static_cast<std::int8_t>(std::round(x[i] * inverse));
    return block;
  }
};

/// @source ggml-quants.c, quantize_row_q4_0_ref: the same but for ties in the last bit
template <>
struct Encoder<Q4_0> {
  static constexpr float error = 1.01F / 8;  // a whole step, where 8 is cut to 7, and the rounding of d

  static Q4_0::Block run(std::span<const float, 32> x) noexcept {
    const float d = detail::signed_max(x) / -8.0F;
    const double inverse = detail::reciprocal(d);
    // In double the product is exact, so that fused and separate arithmetic agree.
    const auto quant = [inverse](float v) {
      return static_cast<unsigned>(std::min(15.0, std::floor(static_cast<double>(v) * inverse + 8.5)));
    };
    Q4_0::Block block{to_half(d), {}};
    for (std::size_t l = 0; l < 16; ++l) {
      block.q[l] = static_cast<std::uint8_t>(quant(x[l]) | quant(x[l + 16]) << 4);
    }
    return block;
  }
};

}  // namespace lazymoe::quant
