#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../core/bytes.hpp"
#include "../core/error.hpp"
#include "detail/quote.hpp"
#include "detail/tensor_bytes.hpp"
#include "limits.hpp"
#include "shards.hpp"
#include "value.hpp"

namespace lazymoe::gguf {

/// Builds GGUF version 3 files in memory: fixtures and small converters. What it writes, parse() accepts.
///
/// @memory every tensor, and once more while writing
class Writer {
 public:
  /// Adds or replaces a key. The type of the argument is the type in the file: `std::uint32_t{7}` is a u32.
  /// "general.alignment" also sets the alignment of the tensors.
  /// @throws Error{bad_argument}
  void set(std::string key, Value value) {
    if (key.empty() || key.size() > Limits::key_bytes || key.find('\0') != std::string::npos) {
      throw Error(Errc::bad_argument, "key " + detail::in_quotes(key) + ": is empty, too long or holds a NUL byte");
    }
    if (key == "general.alignment") {
      const auto* const alignment = std::get_if<std::uint32_t>(&value.storage());
      if (alignment == nullptr || !std::has_single_bit(*alignment)) {
        throw Error(Errc::bad_argument, "key 'general.alignment': must be a u32 and a power of two");
      }
      alignment_ = *alignment;
    }
    put(entries_, std::move(key), std::move(value));
  }

  /// Adds a tensor with its packed bytes, in file order.
  /// @shape  dims: innermost first, 1 to 4 of them
  /// @throws Error{bad_argument, bad_file, unsupported_type}
  void add_tensor(std::string name, std::vector<std::uint64_t> dims, quant::TypeId type,
                  std::span<const std::byte> bytes) {
    const std::string where = "tensor " + detail::in_quotes(name);
    if (name.empty() || name.size() > Limits::tensor_name_bytes || name.find('\0') != std::string::npos) {
      throw Error(Errc::bad_argument, where + ": its name is empty, too long or holds a NUL byte");
    }
    if (std::any_of(tensors_.begin(), tensors_.end(), [&](const Tensor& other) { return other.name == name; })) {
      throw Error(Errc::bad_argument, where + ": added twice");
    }
    if (dims.empty() || dims.size() > 4) throw Error(Errc::bad_argument, where + ": must have 1 to 4 dimensions");
    std::array<std::uint64_t, 4> all{1, 1, 1, 1};
    std::copy(dims.begin(), dims.end(), all.begin());
    const Bytes expected = detail::tensor_bytes(all, type, where);
    if (expected != bytes.size()) {
      throw Error(Errc::bad_argument, where + ": given " + std::to_string(bytes.size()) + " bytes, its shape takes " +
                                          std::to_string(expected));
    }
    tensors_.push_back({std::move(name), std::move(dims), type, {bytes.begin(), bytes.end()}});
  }

  /// The whole file.
  [[nodiscard]] std::vector<std::byte> bytes() const { return build(entries_, tensors_, alignment_); }

  /// @throws Error{io}
  void write(const std::filesystem::path& path) const { write_file(path, bytes()); }

  /// Writes shards "<prefix>-00001-of-0000n.gguf" of at most `max_tensors` each, the metadata in the first.
  /// @return the paths, the one to open first
  /// @throws Error{bad_argument, io}
  std::vector<std::filesystem::path> write_split(const std::filesystem::path& prefix, std::size_t max_tensors) const {
    if (max_tensors == 0) throw Error(Errc::bad_argument, prefix.string() + ": a shard must hold at least one tensor");
    const std::size_t count = std::max<std::size_t>(div_ceil(tensors_.size(), max_tensors), 1);
    if (count > std::numeric_limits<std::uint16_t>::max()) {
      throw Error(Errc::bad_argument, prefix.string() + ": " + std::to_string(count) + " shards are too many");
    }
    std::vector<std::filesystem::path> paths;
    for (std::size_t no = 0; no < count; ++no) {
      Entries entries = no == 0 ? entries_ : Entries{};
      put(entries, "split.no", static_cast<std::uint16_t>(no));
      put(entries, "split.count", static_cast<std::uint16_t>(count));
      put(entries, "split.tensors.count", static_cast<std::int32_t>(tensors_.size()));
      const std::size_t begin = no * max_tensors;
      const auto part = std::span(tensors_).subspan(begin, std::min(max_tensors, tensors_.size() - begin));
      paths.emplace_back(prefix.string() +
                         shard_suffix(static_cast<std::uint32_t>(no), static_cast<std::uint32_t>(count)));
      // Later shards carry only the split keys, so they fall back to the default alignment.
      write_file(paths.back(), build(entries, part, no == 0 ? alignment_ : default_alignment));
    }
    return paths;
  }

 private:
  using Entries = std::vector<std::pair<std::string, Value>>;

  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dims;
    quant::TypeId type;
    std::vector<std::byte> bytes;
  };

  /// Bytes being written, with the primitives of the format.
  struct Output {
    std::vector<std::byte> bytes;

    void raw(const void* from, std::size_t n) {
      const auto* const begin = static_cast<const std::byte*>(from);
      bytes.insert(bytes.end(), begin, begin + n);
    }
    template <class T>
    requires std::is_arithmetic_v<T>
    void put(T value) { raw(&value, sizeof(value)); }
    void put(std::string_view text) {
      put(std::uint64_t{text.size()});
      raw(text.data(), text.size());
    }
    void pad(std::size_t alignment) { bytes.resize(align_up(bytes.size(), alignment)); }
  };

  static void put(Entries& entries, std::string key, Value value) {
    const auto same =
        std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == key; });
    if (same != entries.end()) {
      same->second = std::move(value);
    } else {
      entries.emplace_back(std::move(key), std::move(value));
    }
  }

  static void put_value(Output& out, const Value& value) {
    out.put(static_cast<std::uint32_t>(value.type()));
    std::visit(
        [&](const auto& held) {
          using Held = std::decay_t<decltype(held)>;
          if constexpr (detail::is_array<Held>) {
            using Element = detail::Element<Held>;
            out.put(static_cast<std::uint32_t>(detail::value_type<Element>()));
            out.put(std::uint64_t{held.size()});
            for (std::size_t i = 0; i < held.size(); ++i) out.put(static_cast<Element>(held[i]));
          } else if constexpr (std::same_as<Held, std::string>) {
            out.put(std::string_view(held));
          } else {
            out.put(held);
          }
        },
        value.storage());
  }

  static std::vector<std::byte> build(const Entries& entries, std::span<const Tensor> tensors,
                                      std::uint32_t alignment) {
    Output out;
    out.raw("GGUF", 4);
    out.put(std::uint32_t{3});
    out.put(std::uint64_t{tensors.size()});
    out.put(std::uint64_t{entries.size()});
    for (const auto& entry : entries) {
      out.put(std::string_view(entry.first));
      put_value(out, entry.second);
    }
    Bytes offset = 0;
    for (const auto& tensor : tensors) {
      out.put(std::string_view(tensor.name));
      out.put(static_cast<std::uint32_t>(tensor.dims.size()));
      for (const std::uint64_t dim : tensor.dims) out.put(dim);
      out.put(static_cast<std::uint32_t>(tensor.type));
      out.put(std::uint64_t{offset});
      offset = align_up(offset + tensor.bytes.size(), alignment);
    }
    for (const auto& tensor : tensors) {
      out.pad(alignment);
      out.raw(tensor.bytes.data(), tensor.bytes.size());
    }
    if (!tensors.empty()) out.pad(alignment);
    return std::move(out.bytes);
  }

  static void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) throw Error(Errc::io, path.string() + ": cannot write " + std::to_string(bytes.size()) + " bytes");
  }

  Entries entries_;
  std::vector<Tensor> tensors_;
  std::uint32_t alignment_ = default_alignment;
};

}  // namespace lazymoe::gguf
