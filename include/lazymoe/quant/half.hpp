#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace lazymoe::quant {

// These types lie in blocks of files, at any address: packed, so that every access is an unaligned one.

/// IEEE binary16.
struct [[gnu::packed]] Half {
  std::uint16_t bits;
};
static_assert(sizeof(Half) == 2 && alignof(Half) == 1);

/// The upper half of an IEEE binary32.
struct [[gnu::packed]] BFloat16 {
  std::uint16_t bits;
};
static_assert(sizeof(BFloat16) == 2 && alignof(BFloat16) == 1);

/// A power of two by its biased exponent, the scale of MXFP4.
struct E8M0 {
  std::uint8_t bits;
};

/// A small float without sign, the scale of NVFP4: 4 bits of exponent, 3 of mantissa.
struct UE4M3 {
  std::uint8_t bits;
};

namespace detail {

/// Exact for every value; a signalling NaN becomes quiet, as the hardware does it.
constexpr float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  std::uint32_t bits = 0;
  if (exponent == 0) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24F);
  } else if (exponent == 0x1F) {
    bits = 0x7F800000U | (mantissa << 13) | (mantissa != 0 ? 0x00400000U : 0U);
  } else {
    bits = ((exponent + 127 - 15) << 23) | (mantissa << 13);
  }
  return std::bit_cast<float>(sign | bits);
}

}  // namespace detail

[[nodiscard]] constexpr float to_float(Half half) noexcept {
#if defined(__F16C__)
  if (!std::is_constant_evaluated()) return _cvtsh_ss(half.bits);
#endif
  return detail::half_to_float(half.bits);
}

[[nodiscard]] constexpr float to_float(BFloat16 value) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// 2^(bits - 128): half of the OCP scale, because the table of MXFP4 holds doubled values. 255 is not
/// special here, as in the reference; 0 and 1 give subnormal numbers.
/// @source ggml-impl.h, ggml_e8m0_to_fp32_half
[[nodiscard]] constexpr float to_float(E8M0 scale) noexcept {
  const std::uint32_t e = scale.bits;
  return std::bit_cast<float>(e < 2 ? 0x00200000U << e : (e - 1) << 23);
}

/// Half of what the scale stands for, because the table of E2M1 holds doubled values. The one NaN, 0x7F, is 0 and the
/// spare bit is ignored, as in the reference.
/// @source ggml-impl.h, ggml_ue4m3_to_fp32
[[nodiscard]] constexpr float to_float(UE4M3 scale) noexcept {
  if (scale.bits == 0x7F) return 0.0F;
  const std::uint32_t exponent = scale.bits >> 3 & 15U;
  const std::uint32_t mantissa = scale.bits & 7U;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10F;
  return std::bit_cast<float>((exponent + 127 - 8) << 23 | mantissa << 20);
}

/// The nearest half, ties to even; beyond the largest half: infinity; NaN: the one quiet NaN of its sign.
/// @source ggml-impl.h, ggml_compute_fp32_to_fp16
[[nodiscard]] constexpr Half to_half(float value) noexcept {
  constexpr std::uint32_t infinity = 0x7F800000U;
  constexpr std::uint32_t overflow = 0x477FF000U;       // 65520, halfway between the largest half and 2^16
  constexpr std::uint32_t least_normal = 0x38800000U;   // 2^-14
  constexpr std::uint32_t rebias = (127U - 15U) << 10;  // between the exponents, in a half's position

  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t half = 0;
  if (magnitude > infinity) {
    half = 0x7E00U;
  } else if (magnitude >= overflow) {
    half = 0x7C00U;
  } else if (magnitude >= least_normal) {
    half = ((magnitude + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13) - rebias;
  } else {
    // The last place of numbers from 0.5 on is 2^-24, that of subnormal halves: the sum rounds for us.
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::uint32_t>(0.5F);
  }
  return {static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | half)};
}

/// The nearest bfloat16, ties to even; NaN stays NaN, quiet.
/// @source ggml-impl.h, ggml_compute_fp32_to_bf16
[[nodiscard]] constexpr BFloat16 to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return {static_cast<std::uint16_t>(bits >> 16 | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16)};
}

}  // namespace lazymoe::quant
