#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "../core/contract.hpp"
#include "../core/error.hpp"
#include "format.hpp"
#include "formats/plain.hpp"
#include "formats/q4_0.hpp"
#include "formats/q6_k.hpp"
#include "formats/q8_0.hpp"
#include "half.hpp"
#include "registry.hpp"

namespace lazymoe::quant {

/// Packs one block of `F`. Serves fixtures and changes of representation: plain and scalar, with no search
/// for better scales. Not every format has one.
template <BlockFormat F>
struct Encoder;

/// A format that can be written, too.
///
/// Laws, checked for every such format by tests/quant/encode_test.cpp:
///   1. decode(encode(x)) is within Encoder<F>::error * max|x| of x, x finite and neither tiny nor huge:
///      the scale is a normal half
template <class F>
concept EncodableFormat = BlockFormat<F> && requires(std::span<const float, F::block_elems> x) {
  { Encoder<F>::error } -> std::convertible_to<float>;
  { Encoder<F>::run(x) } -> std::same_as<typename F::Block>;
};

namespace detail {

/// The element of largest magnitude, with its sign; the first one on ties.
inline float signed_max(std::span<const float> x) noexcept {
  return *std::ranges::max_element(x, {}, [](float v) { return std::abs(v); });
}

/// 1 / d, or 0 where that has no finite value: such a block is zeros, or its d rounds to 0 anyway.
inline float reciprocal(float d) noexcept { return std::abs(d) < 0x1p-126F ? 0.0F : 1.0F / d; }

}  // namespace detail

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

template <>
struct Encoder<Q6_K> {
  static constexpr float error = 0.04F;  // a step of 1/32, and scale steps of 1/128, one of them cut

  static Q6_K::Block run(std::span<const float, 256> x) noexcept {
    std::array<float, Q6_K::groups> steps{};
    for (std::size_t g = 0; g < steps.size(); ++g) steps[g] = detail::signed_max(x.subspan(16 * g, 16)) / -32.0F;

    Q6_K::Block block{};
    block.d = to_half(detail::signed_max(steps) / -128.0F);
    const float d = to_float(block.d);
    for (std::size_t g = 0; g < steps.size(); ++g) {
      const float scale = std::clamp(std::round(steps[g] * detail::reciprocal(d)), -128.0F, 127.0F);
      block.scales[g] = static_cast<std::int8_t>(scale);
      const float inverse = detail::reciprocal(d * scale);
      for (std::size_t i = 16 * g; i < 16 * g + 16; ++i) {
        const auto q = static_cast<unsigned>(std::clamp(std::round(x[i] * inverse), -32.0F, 31.0F) + 32.0F);
        const std::size_t h = i / 128;
        const std::size_t r = i % 128 / 32;
        auto& low = block.low[64 * h + 32 * (r % 2) + i % 32];
        auto& high = block.high[32 * h + i % 32];
        low = static_cast<std::uint8_t>(low | (q & 15U) << (4 * (r / 2)));
        high = static_cast<std::uint8_t>(high | q >> 4 << (2 * r));
      }
    }
    return block;
  }
};

/// Packs a row.
///
/// @shape x[n] -> out[row_bytes<F>(n)]
/// @pre   n is a multiple of F::block_elems; x is finite
/// @error Encoder<F>::error times the largest magnitude of the block
template <EncodableFormat F>
void encode_row(std::span<const float> x, std::span<std::byte> out) noexcept {
  LAZYMOE_EXPECTS(x.size() % F::block_elems == 0 && out.size() == row_bytes<F>(x.size()));
  for (auto* to = out.data(); !x.empty(); x = x.subspan(F::block_elems), to += block_bytes<F>) {
    const auto block = Encoder<F>::run(x.template first<F::block_elems>());
    std::memcpy(to, &block, sizeof block);
  }
}

/// The same for a format known at run time.
/// @throws Error{unsupported_type} when the type is not in the registry or has no encoder
inline void encode_row(TypeId type, std::span<const float> x, std::span<std::byte> out) {
  visit_format(type, [&](auto format) {
    using F = typename decltype(format)::type;
    if constexpr (EncodableFormat<F>) {
      encode_row<F>(x, out);
    } else {
      throw Error(Errc::unsupported_type,
                  std::string(F::name) + ": this library reads the format but does not write it");
    }
  });
}

}  // namespace lazymoe::quant
