#pragma once

#include <filesystem>
#include <string>

namespace lazymoe::io {

/// Whether a path is a URL that RemoteFiles opens, in letters of either case. (std::filesystem::path leaves it as it is.)
[[nodiscard]] inline bool is_url(const std::filesystem::path& path) {
  std::string scheme = path.native().substr(0, path.native().find("://") + 3);
  for (char& c : scheme) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return scheme == "http://" || scheme == "https://";
}

}  // namespace lazymoe::io
