#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "detail/quote.hpp"
#include "value.hpp"

namespace lazymoe::gguf {

/// The keys and values of a GGUF file, in file order.
///
/// Strings are handed out as views: they live until the next insert() or the end of this object; a move keeps
/// them alive, a copy has its own.
/// @cost lookup O(log n); arrays are converted on each call
class Metadata {
 public:
  struct Entry {
    std::string key;
    Value value;
  };

  Metadata() = default;
  explicit Metadata(std::string file) : file_(std::move(file)) {}

  /// Name of the file the keys came from, as used in messages.
  [[nodiscard]] const std::string& file() const noexcept { return file_; }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

  [[nodiscard]] bool contains(std::string_view key) const { return index_.find(key) != index_.end(); }

  [[nodiscard]] const Value* value(std::string_view key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &entries_[found->second].value;
  }

  /// The value of `key` as a `T`, or nullopt if there is no such key.
  /// @throws Error{bad_metadata} when the key holds something else or a value that does not fit
  template <Readable T>
  [[nodiscard]] std::optional<T> find(std::string_view key) const {
    const Value* const held = value(key);
    if (held == nullptr) return std::nullopt;
    const std::optional<T> result = held->as<T>();
    if (!result) fail(key, "is " + held->describe_type() + ", expected " + expected<T>());
    return result;
  }

  /// @throws Error{bad_metadata} also when the key is missing
  template <Readable T>
  [[nodiscard]] T require(std::string_view key) const {
    if (const std::optional<T> result = find<T>(key)) return *result;
    fail(key, "is missing, expected " + expected<T>());
  }

  /// The array at `key`, each element by the rules of find().
  /// @throws Error{bad_metadata}
  template <Readable T>
  [[nodiscard]] std::optional<std::vector<T>> find_array(std::string_view key) const {
    const Value* const held = value(key);
    if (held == nullptr) return std::nullopt;
    std::optional<std::vector<T>> result = held->as_array<T>();
    if (!result) fail(key, "is " + held->describe_type() + ", expected an array, each element " + expected<T>());
    return result;
  }

  /// @throws Error{bad_metadata} also when the key is missing
  template <Readable T>
  [[nodiscard]] std::vector<T> require_array(std::string_view key) const {
    if (std::optional<std::vector<T>> result = find_array<T>(key)) return *std::move(result);
    fail(key, "is missing, expected an array, each element " + expected<T>());
  }

  /// @throws Error{bad_argument} when the key is there already
  void insert(std::string key, Value value) {
    if (!index_.emplace(key, entries_.size()).second) {
      throw Error(Errc::bad_argument, file_ + ": key " + detail::in_quotes(key) + " inserted twice");
    }
    entries_.push_back({std::move(key), std::move(value)});
  }

 private:
  template <class T>
  [[nodiscard]] static std::string expected() {
    if constexpr (std::same_as<T, bool>) return "a bool";
    if constexpr (std::floating_point<T>) return "a number";
    if constexpr (std::same_as<T, std::string_view>) return "a string";
    if constexpr (std::integral<T>) {
      return "an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
             std::to_string(std::numeric_limits<T>::max());
    }
  }

  [[noreturn]] void fail(std::string_view key, const std::string& reason) const {
    throw Error(Errc::bad_metadata, file_ + ": key " + detail::in_quotes(key) + " " + reason);
  }

  std::string file_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t, std::less<>> index_;  // ordered: no input makes it quadratic
};

}  // namespace lazymoe::gguf
