#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "../limits.hpp"
#include "../metadata.hpp"
#include "../value.hpp"
#include "cursor.hpp"
#include "quote.hpp"

namespace lazymoe::gguf::detail {

/// A byte of the file as a bool: anything but 0 and 1 is a sign of damage.
[[nodiscard]] inline bool to_bool(const Cursor& cursor, std::byte byte, const std::string& what) {
  const auto number = std::to_integer<unsigned>(byte);
  if (number > 1) cursor.fail(what + " has a bool of " + std::to_string(number) + ", expected 0 or 1");
  return number == 1;
}

template <class T>
[[nodiscard]] Value parse_scalar(Cursor& cursor, const std::string& what) {
  if constexpr (std::same_as<T, std::string>) {
    return std::string(cursor.read_string(Limits::string_bytes, what));
  } else if constexpr (std::same_as<T, bool>) {
    return to_bool(cursor, cursor.take(1, what)[0], what);
  } else {
    return cursor.read<T>(what);
  }
}

template <class T>
[[nodiscard]] Value parse_array(Cursor& cursor, std::uint64_t count, const std::string& what) {
  constexpr Bytes least_bytes = std::same_as<T, std::string> ? 8 : std::same_as<T, bool> ? 1 : sizeof(T);
  cursor.expect_in_file(count, least_bytes, what);
  if (count > Limits::array_elems) {
    cursor.fail(what + " has " + std::to_string(count) + " elements, at most " + std::to_string(Limits::array_elems) +
                " are allowed");
  }
  const auto n = static_cast<std::size_t>(count);
  if constexpr (std::same_as<T, std::string>) {
    cursor.expect_at_hand(n * least_bytes);
    StringArray strings;
    strings.reserve(n);
    for (std::size_t i = 0; i < n; ++i) strings.push_back(cursor.read_string(Limits::string_bytes, what));
    return strings;
  } else if constexpr (std::same_as<T, bool>) {
    std::vector<bool> bools;
    bools.reserve(n);
    for (const std::byte byte : cursor.take(n, what)) bools.push_back(to_bool(cursor, byte, what));
    return bools;
  } else {
    const auto from = cursor.take(n * sizeof(T), what);
    std::vector<T> elements(n);
    if (n != 0) std::memcpy(elements.data(), from.data(), from.size());
    return elements;
  }
}

/// Calls `fn(std::type_identity<T>)` with the type of a scalar or string; arrays and unknown types are refused.
template <class Fn>
[[nodiscard]] Value with_type(const Cursor& cursor, std::uint32_t type, const std::string& what, Fn&& fn) {
  switch (static_cast<ValueType>(type)) {
    case ValueType::u8:
      return fn(std::type_identity<std::uint8_t>{});
    case ValueType::i8:
      return fn(std::type_identity<std::int8_t>{});
    case ValueType::u16:
      return fn(std::type_identity<std::uint16_t>{});
    case ValueType::i16:
      return fn(std::type_identity<std::int16_t>{});
    case ValueType::u32:
      return fn(std::type_identity<std::uint32_t>{});
    case ValueType::i32:
      return fn(std::type_identity<std::int32_t>{});
    case ValueType::f32:
      return fn(std::type_identity<float>{});
    case ValueType::boolean:
      return fn(std::type_identity<bool>{});
    case ValueType::string:
      return fn(std::type_identity<std::string>{});
    case ValueType::u64:
      return fn(std::type_identity<std::uint64_t>{});
    case ValueType::i64:
      return fn(std::type_identity<std::int64_t>{});
    case ValueType::f64:
      return fn(std::type_identity<double>{});
    case ValueType::array:
      cursor.fail(what + " is an array of arrays, which is not supported");
  }
  // The length of such a value is unknown, so nothing behind it can be read.
  cursor.fail(what + " has the unknown value type " + std::to_string(type));
}

[[nodiscard]] inline Value parse_value(Cursor& cursor, const std::string& what) {
  const auto type = cursor.read<std::uint32_t>(what);
  if (type != static_cast<std::uint32_t>(ValueType::array)) {
    return with_type(cursor, type, what,
                     [&](auto of) { return parse_scalar<typename decltype(of)::type>(cursor, what); });
  }
  const auto element = cursor.read<std::uint32_t>(what);
  const auto count = cursor.read<std::uint64_t>(what);
  return with_type(cursor, element, what,
                   [&](auto of) { return parse_array<typename decltype(of)::type>(cursor, count, what); });
}

/// Reads key `number` and its value into `metadata`.
/// @throws Error{bad_file}, Beyond
inline void parse_key(Cursor& cursor, std::uint64_t number, Metadata& metadata) {
  const std::string which = "key " + std::to_string(number);
  const auto key = cursor.read_string(Limits::key_bytes, which);
  if (key.empty()) cursor.fail(which + " is empty");
  if (key.find('\0') != std::string_view::npos) cursor.fail(which + ", " + in_quotes(key) + ", contains a NUL byte");
  const std::string what = "key " + in_quotes(key);
  if (metadata.contains(key)) cursor.fail(what + " appears twice");
  metadata.insert(std::string(key), parse_value(cursor, what));
}

}  // namespace lazymoe::gguf::detail
