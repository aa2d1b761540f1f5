#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace lazymoe {

static_assert(std::endian::native == std::endian::little,
              "lazymoe reads little-endian files by copying; big-endian machines are not supported");

/// Reads a `T` from unaligned bytes.
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] inline T load_as(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// a + b, or nullopt if it does not fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// a * b, or nullopt if it does not fit.
template <std::unsigned_integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) noexcept {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// `value` rounded up to a multiple of `alignment`.
/// @pre `alignment` is a power of two and the result fits
template <std::unsigned_integral T>
[[nodiscard]] constexpr T align_up(T value, std::type_identity_t<T> alignment) noexcept {
  return (value + (alignment - 1)) & ~(alignment - 1);
}

/// `value` rounded down to a multiple of `alignment`.
/// @pre `alignment` is a power of two
template <std::unsigned_integral T>
[[nodiscard]] constexpr T align_down(T value, std::type_identity_t<T> alignment) noexcept {
  return value & ~(alignment - 1);
}

[[nodiscard]] constexpr std::uint64_t div_ceil(std::uint64_t value, std::uint64_t divisor) noexcept {
  return (value + divisor - 1) / divisor;
}

}  // namespace lazymoe
