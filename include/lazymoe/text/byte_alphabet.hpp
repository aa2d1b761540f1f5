#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lazymoe::text {

/// The printable code point that byte-level BPE files write for each byte: itself where it is visible, else
/// U+0100 and up in order of the bytes.
/// @source GPT-2, bytes_to_unicode()
inline constexpr std::array<std::uint16_t, 256> byte_alphabet = [] {
  std::array<std::uint16_t, 256> alphabet{};
  std::uint16_t next = 0x100;
  for (std::uint16_t byte = 0; byte < 256; ++byte) {
    const bool visible = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    alphabet[byte] = visible ? byte : next++;
  }
  return alphabet;
}();

namespace detail {

/// Byte of each code point, -1 for code points outside the alphabet.
inline constexpr std::array<std::int16_t, 0x144> byte_of_code_point = [] {
  std::array<std::int16_t, 0x144> bytes{};
  bytes.fill(-1);
  for (std::size_t byte = 0; byte < 256; ++byte) bytes[byte_alphabet[byte]] = static_cast<std::int16_t>(byte);
  return bytes;
}();

}  // namespace detail

/// The bytes that `text` spells in the byte alphabet, or nullopt if it strays outside of it.
[[nodiscard]] inline std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t code_point = static_cast<unsigned char>(text[i]);
    if (code_point >= 0x80) {
      // The alphabet ends at U+0143, so every other code point has two bytes, the first C2 to C5.
      if (code_point < 0xC2 || code_point > 0xC5 || i + 1 == text.size()) return std::nullopt;
      const std::size_t next = static_cast<unsigned char>(text[++i]);
      if ((next & 0xC0) != 0x80) return std::nullopt;
      code_point = (code_point & 0x1F) << 6 | (next & 0x3F);
    }
    if (code_point >= detail::byte_of_code_point.size()) return std::nullopt;
    const std::int16_t byte = detail::byte_of_code_point[code_point];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace lazymoe::text
