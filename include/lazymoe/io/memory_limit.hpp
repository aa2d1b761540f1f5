#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "../core/types.hpp"

namespace lazymoe::io {

/// How much memory this process may still take before the system swaps, or its control group kills it.
struct MemoryLimit {
  Bytes bytes = 0;
  std::string source;  ///< what says so: "MemAvailable" or the limit of a control group
};

namespace detail {

inline std::optional<Bytes> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  Bytes value = 0;
  if (!(file >> value)) return std::nullopt;  // "max" is none
  return value;
}

/// "MemAvailable:   123 kB"
inline std::optional<Bytes> read_kib_of(const std::filesystem::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key) || line.substr(key.size(), 1) != ":") continue;
    std::istringstream words(line.substr(key.size() + 1));
    Bytes kib = 0;
    if (words >> kib) return kib * 1024;
  }
  return std::nullopt;
}

/// The group of a controller in /proc/self/cgroup, whose lines are "number:controllers:path".
inline std::optional<std::string> group_of(const std::filesystem::path& proc, std::string_view controller) {
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (line.substr(first + 1, second - first - 1) == controller) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// What a group and all it lies in leave free; a limit above any machine's memory is none.
inline std::optional<Bytes> left_in_groups(const std::filesystem::path& root, std::filesystem::path group,
                                           const char* limit_name, const char* usage_name) {
  constexpr Bytes no_limit = Bytes{1} << 60;
  std::optional<Bytes> least;
  for (std::filesystem::path at = group.relative_path();; at = at.parent_path()) {
    const auto limit = read_number(root / at / limit_name);
    if (limit && *limit < no_limit) {
      const Bytes used = read_number(root / at / usage_name).value_or(0);
      const Bytes left = *limit - std::min(*limit, used);
      least = std::min(least.value_or(left), left);
    }
    if (at.empty()) return least;
  }
}

}  // namespace detail

/// The smallest of what the system has available and what the control groups of this process (version 1 or 2) leave.
/// Page cache that a group has filled counts as used, so this may say too little, never too much.
///
/// @param proc, groups where the system shows them
/// @source Linux, Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst; man 5 proc
[[nodiscard]] inline std::optional<MemoryLimit> memory_limit(const std::filesystem::path& proc = "/proc",
                                                             const std::filesystem::path& groups = "/sys/fs/cgroup") {
  std::optional<MemoryLimit> limit;
  const auto consider = [&](std::optional<Bytes> bytes, const char* source) {
    if (bytes && (!limit || *bytes < limit->bytes)) limit = {*bytes, source};
  };
  consider(detail::read_kib_of(proc / "meminfo", "MemAvailable"), "MemAvailable");
  if (const auto group = detail::group_of(proc, "")) {
    consider(detail::left_in_groups(groups, *group, "memory.max", "memory.current"), "cgroup v2");
  }
  if (const auto group = detail::group_of(proc, "memory")) {
    consider(detail::left_in_groups(groups / "memory", *group, "memory.limit_in_bytes", "memory.usage_in_bytes"),
             "cgroup v1");
  }
  return limit;
}

}  // namespace lazymoe::io
