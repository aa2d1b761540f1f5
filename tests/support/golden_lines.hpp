#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lazymoe::test {

/// The fields of a line between tabs.
[[nodiscard]] inline std::vector<std::string> tab_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == '\t')
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

/// The bytes that hexadecimal digits spell.
[[nodiscard]] inline std::string unhex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return bytes;
}

}  // namespace lazymoe::test
