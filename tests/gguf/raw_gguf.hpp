#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

namespace lazymoe::test {

/// Bytes put together by hand, right or wrong.
class Raw {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Raw& put(T value) { return append(&value, sizeof(value)); }
  Raw& text(std::string_view characters) { return append(characters.data(), characters.size()); }
  Raw& string(std::string_view characters) { return put(std::uint64_t{characters.size()}).text(characters); }
  Raw& zeros(std::size_t n) {
    bytes_.resize(bytes_.size() + n);
    return *this;
  }
  Raw& append(const Raw& other) { return append(other.bytes_.data(), other.bytes_.size()); }

  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  Raw& append(const void* from, std::size_t n) {
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + n);
    return *this;
  }

  std::vector<std::byte> bytes_;
};

/// A GGUF file that promises nothing: unlike gguf::Writer it writes what it is told.
struct RawGguf {
  std::uint32_t version = 3;
  std::optional<std::uint64_t> n_tensors = std::nullopt;  ///< other than there are
  std::optional<std::uint64_t> n_keys = std::nullopt;
  std::size_t alignment = 32;
  std::size_t payload = 256;  ///< zero bytes after the padding

  RawGguf& key(std::string_view name, std::uint32_t type, const Raw& value) {
    keys.string(name).put(type).append(value);
    ++keys_written;
    return *this;
  }
  RawGguf& u32_key(std::string_view name, std::uint32_t value) { return key(name, 4, Raw().put(value)); }

  RawGguf& tensor(std::string_view name, std::initializer_list<std::uint64_t> dims, std::uint32_t type,
                  std::uint64_t offset) {
    tensors.string(name).put(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) tensors.put(dim);
    tensors.put(type).put(offset);
    ++tensors_written;
    return *this;
  }

  [[nodiscard]] std::vector<std::byte> bytes() const {
    Raw file;
    file.text("GGUF").put(version).put(n_tensors.value_or(tensors_written)).put(n_keys.value_or(keys_written));
    file.append(keys).append(tensors);
    file.zeros((alignment - file.bytes().size() % alignment) % alignment + payload);
    return file.bytes();
  }

  Raw keys;
  Raw tensors;
  std::uint64_t keys_written = 0;
  std::uint64_t tensors_written = 0;
};

}  // namespace lazymoe::test
