#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace lazymoe::gguf {

/// Wire number of the type of a metadata value.
/// @source gguf.h, enum gguf_type
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

[[nodiscard]] constexpr std::string_view type_name(ValueType type) noexcept {
  constexpr std::string_view names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                        "bool", "string", "array", "u64", "i64", "f64"};
  const auto i = static_cast<std::uint32_t>(type);
  return i < std::size(names) ? names[i] : "unknown";
}

/// Strings back to back in one block: a vocabulary costs two allocations, not two hundred thousand.
class StringArray {
 public:
  StringArray() = default;
  explicit StringArray(const std::vector<std::string>& strings) {
    for (const auto& s : strings) push_back(s);
  }

  void reserve(std::size_t n_strings) { ends_.reserve(n_strings); }
  void push_back(std::string_view s) {
    text_ += s;
    ends_.push_back(text_.size());
  }

  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

/// What a metadata value can be asked for: bool, any integer, float, double, string_view.
template <class T>
concept Readable =
    std::same_as<T, bool> || std::integral<T> || std::floating_point<T> || std::same_as<T, std::string_view>;

namespace detail {

/// `from` as a `T`, or nullopt if the kind differs or the value does not fit.
template <Readable T, class From>
[[nodiscard]] std::optional<T> convert(const From& from) {
  if constexpr (std::same_as<T, bool> || std::same_as<From, bool>) {
    if constexpr (std::same_as<T, From>) return from;
  } else if constexpr (std::integral<T> && std::integral<From>) {
    if (std::in_range<T>(from)) return static_cast<T>(from);
  } else if constexpr (std::same_as<T, float> && std::same_as<From, double>) {
    if (!std::isfinite(from) || std::abs(from) <= double{std::numeric_limits<float>::max()}) {
      return static_cast<float>(from);
    }
  } else if constexpr (std::floating_point<T> && std::is_arithmetic_v<From>) {
    return static_cast<T>(from);
  } else if constexpr (std::same_as<T, std::string_view> && std::convertible_to<const From&, std::string_view>) {
    return std::string_view(from);
  }
  return std::nullopt;
}

template <class T>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<std::vector<T>> = true;
template <>
inline constexpr bool is_array<StringArray> = true;

template <class T, class Variant>
inline constexpr bool is_alternative = false;
template <class T, class... Alternatives>
inline constexpr bool is_alternative<T, std::variant<Alternatives...>> = (std::same_as<T, Alternatives> || ...);

template <class T>
[[nodiscard]] constexpr ValueType value_type() noexcept {
  if constexpr (std::same_as<T, std::uint8_t>) return ValueType::u8;
  if constexpr (std::same_as<T, std::int8_t>) return ValueType::i8;
  if constexpr (std::same_as<T, std::uint16_t>) return ValueType::u16;
  if constexpr (std::same_as<T, std::int16_t>) return ValueType::i16;
  if constexpr (std::same_as<T, std::uint32_t>) return ValueType::u32;
  if constexpr (std::same_as<T, std::int32_t>) return ValueType::i32;
  if constexpr (std::same_as<T, float>) return ValueType::f32;
  if constexpr (std::same_as<T, bool>) return ValueType::boolean;
  if constexpr (std::same_as<T, std::uint64_t>) return ValueType::u64;
  if constexpr (std::same_as<T, std::int64_t>) return ValueType::i64;
  if constexpr (std::same_as<T, double>) return ValueType::f64;
  if constexpr (std::same_as<T, std::string> || std::same_as<T, std::string_view>) return ValueType::string;
  if constexpr (is_array<T>) return ValueType::array;
}

/// Element `i` of an array held by a Value; vector<bool> hands out bools, StringArray views.
template <class Array>
using Element = std::remove_cvref_t<decltype(std::declval<const Array&>()[0])>;

}  // namespace detail

/// One metadata value: a scalar, a string or a flat array of either.
class Value {
 public:
  using Storage =
      std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, float, bool,
                   std::string, std::uint64_t, std::int64_t, double, std::vector<std::uint8_t>,
                   std::vector<std::int8_t>, std::vector<std::uint16_t>, std::vector<std::int16_t>,
                   std::vector<std::uint32_t>, std::vector<std::int32_t>, std::vector<float>, std::vector<bool>,
                   std::vector<std::uint64_t>, std::vector<std::int64_t>, std::vector<double>, StringArray>;

  /// Implicit from exactly the stored types, so that the width written to a file is the width of the argument.
  template <class T>
    requires detail::is_alternative<T, Storage>
  Value(T value) : held_(std::move(value)) {}
  Value(const char* value) : held_(std::string(value)) {}
  Value(std::string_view value) : held_(std::string(value)) {}
  Value(const std::vector<std::string>& values) : held_(StringArray(values)) {}

  [[nodiscard]] const Storage& storage() const noexcept { return held_; }

  [[nodiscard]] ValueType type() const {
    return std::visit([](const auto& held) { return detail::value_type<std::decay_t<decltype(held)>>(); }, held_);
  }

  /// The scalar as a `T`: integers of any stored width if the value fits, floats also from integers.
  template <Readable T>
  [[nodiscard]] std::optional<T> as() const {
    return std::visit([](const auto& held) { return detail::convert<T>(held); }, held_);
  }

  /// The array as `T`s, by the rules of as() for each element; strings are views into this value.
  template <Readable T>
  [[nodiscard]] std::optional<std::vector<T>> as_array() const {
    return std::visit(
        [](const auto& held) -> std::optional<std::vector<T>> {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (detail::is_array<Held>) {
            std::vector<T> out;
            out.reserve(held.size());
            for (std::size_t i = 0; i < held.size(); ++i) {
              const std::optional<T> element = detail::convert<T, detail::Element<Held>>(held[i]);
              if (!element) return std::nullopt;
              out.push_back(*element);
            }
            return out;
          } else {
            return std::nullopt;
          }
        },
        held_);
  }

  /// The type in words for messages, with the value where it is short: "u32 7", "string", "array of 3 f32".
  [[nodiscard]] std::string describe_type() const {
    return std::visit(
        [](const auto& held) -> std::string {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (detail::is_array<Held>) {
            return "array of " + std::to_string(held.size()) + " " +
                   std::string(type_name(detail::value_type<detail::Element<Held>>()));
          } else {
            std::string text(type_name(detail::value_type<Held>()));
            if constexpr (std::floating_point<Held>) {
              std::array<char, 32> digits{};
              std::snprintf(digits.data(), digits.size(), " %g", double{held});
              text += digits.data();
            } else if constexpr (std::integral<Held>) {
              text += " " + std::to_string(held);
            }
            return text;
          }
        },
        held_);
  }

 private:
  Storage held_;
};

}  // namespace lazymoe::gguf
