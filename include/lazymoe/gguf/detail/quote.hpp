#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lazymoe::gguf::detail {

/// A name from a file, in quotes and safe to print: control and non-ASCII bytes as \xNN, at most 80 bytes of it.
[[nodiscard]] inline std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 80;
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text = "'";
  for (const char c : name.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      text += c;
    } else {
      text += "\\x";
      text += digits[byte >> 4U];
      text += digits[byte & 15U];
    }
  }
  return text += name.size() > longest ? "...'" : "'";
}

}  // namespace lazymoe::gguf::detail
