#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/error.hpp"
#include "detail/quote.hpp"
#include "metadata.hpp"
#include "tensor.hpp"

namespace lazymoe::gguf {

/// What a shard says of itself; a file without these keys is the only shard of its model.
/// @source llama.cpp, gguf-split: split.no counts from 0, names from 1
struct SplitKeys {
  std::uint16_t no = 0;
  std::uint16_t count = 1;
  std::optional<std::uint64_t> tensors;  ///< over all shards
};

/// @throws Error{bad_metadata, bad_file}
[[nodiscard]] inline SplitKeys read_split_keys(const Metadata& metadata) {
  SplitKeys keys;
  keys.no = metadata.find<std::uint16_t>("split.no").value_or(0);
  keys.count = std::max(metadata.find<std::uint16_t>("split.count").value_or(1), std::uint16_t{1});
  keys.tensors = metadata.find<std::uint64_t>("split.tensors.count");
  if (keys.no >= keys.count) {
    throw Error(Errc::bad_file, metadata.file() + ": key 'split.no' is " + std::to_string(keys.no) +
                                    ", beyond 'split.count' " + std::to_string(keys.count));
  }
  return keys;
}

/// How the name of shard `no` (from 0) of `count` ends: "-00001-of-00003.gguf".
[[nodiscard]] inline std::string shard_suffix(std::uint32_t no, std::uint32_t count) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "-%05u-of-%05u.gguf", no + 1, count);
  return text.data();
}

/// Paths of all shards, from the path of the one with these keys. Only the path given and two numbers make them:
/// nothing inside a file can point elsewhere.
/// @throws Error{bad_file} when the path does not end as its keys demand
[[nodiscard]] inline std::vector<std::filesystem::path> shard_paths(const std::filesystem::path& path,
                                                                    const SplitKeys& keys) {
  if (keys.count == 1) return {path};
  const std::string name = path.string();
  const std::string suffix = shard_suffix(keys.no, keys.count);
  if (!name.ends_with(suffix)) {
    throw Error(Errc::bad_file, name + ": is shard " + std::to_string(keys.no + 1) + " of " +
                                    std::to_string(keys.count) + ", so its name must end in '" + suffix +
                                    "' for the others to be found");
  }
  const std::string prefix = name.substr(0, name.size() - suffix.size());
  std::vector<std::filesystem::path> paths;
  for (std::uint32_t no = 0; no < keys.count; ++no) paths.emplace_back(prefix + shard_suffix(no, keys.count));
  return paths;
}

/// Checks that a shard is the one its place among `count` demands.
/// @throws Error{bad_file, bad_metadata}
inline void check_shard(const Metadata& metadata, std::uint32_t no, std::uint32_t count) {
  const SplitKeys keys = read_split_keys(metadata);
  if (keys.count != count) {
    throw Error(Errc::bad_file, metadata.file() + ": key 'split.count' is " + std::to_string(keys.count) +
                                    ", but the first shard says " + std::to_string(count));
  }
  if (keys.no != no) {
    throw Error(Errc::bad_file, metadata.file() + ": key 'split.no' is " + std::to_string(keys.no) + ", expected " +
                                    std::to_string(no));
  }
}

/// The order of `tensors` by name, for lookup.
/// @throws Error{bad_file} when a name appears twice, or when there are not as many as `keys` says
[[nodiscard]] inline std::vector<std::uint32_t> index_tensors(std::span<const TensorInfo> tensors,
                                                              const SplitKeys& keys, const std::string& file) {
  std::vector<std::uint32_t> by_name(tensors.size());
  for (std::size_t i = 0; i < by_name.size(); ++i) by_name[i] = static_cast<std::uint32_t>(i);
  std::sort(by_name.begin(), by_name.end(),
            [&](std::uint32_t a, std::uint32_t b) { return tensors[a].name < tensors[b].name; });
  const auto twin = std::adjacent_find(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) {
    return tensors[a].name == tensors[b].name;
  });
  if (twin != by_name.end()) {
    const TensorInfo& a = tensors[std::min(twin[0], twin[1])];
    const TensorInfo& b = tensors[std::max(twin[0], twin[1])];
    throw Error(Errc::bad_file, file + ": tensor " + detail::in_quotes(a.name) + " appears in shard " +
                                    std::to_string(a.shard + 1) + " and again in shard " + std::to_string(b.shard + 1));
  }
  if (keys.tensors && *keys.tensors != tensors.size()) {
    throw Error(Errc::bad_file, file + ": key 'split.tensors.count' is " + std::to_string(*keys.tensors) +
                                    ", but the shards hold " + std::to_string(tensors.size()) + " tensors");
  }
  return by_name;
}

}  // namespace lazymoe::gguf
