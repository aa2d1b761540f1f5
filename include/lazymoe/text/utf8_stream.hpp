#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace lazymoe::text {

/// U+FFFD, what stands where no character could be read.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// How the first bytes of some text read as UTF-8.
struct Utf8Sequence {
  enum class Kind : std::uint8_t {
    complete,  ///< one code point
    cut,       ///< the beginning of one: the text ends too early
    broken,    ///< no code point begins like this
  };
  Kind kind = Kind::broken;
  std::size_t bytes = 0;  ///< of the code point; else of the longest beginning of one, at least 1
};

/// Reads one code point; overlong forms, surrogates and numbers above U+10FFFF are broken.
/// @pre `text` is not empty
/// @source The Unicode Standard 15.0, table 3-7; "maximal subpart", section 3.9
[[nodiscard]] constexpr Utf8Sequence read_utf8(std::string_view text) noexcept {
  using enum Utf8Sequence::Kind;
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {complete, 1};
  if (lead < 0xC2 || lead > 0xF4) return {broken, 1};
  const std::size_t bytes = lead < 0xE0 ? 2U : lead < 0xF0 ? 3U : 4U;

  // Only the second byte has a range of its own: that is where overlong forms and surrogates are told.
  unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (i == text.size()) return {cut, i};
    if (byte(i) < low || byte(i) > high) return {broken, i};
    low = 0x80;
    high = 0xBF;
  }
  return {complete, bytes};
}

/// `text` with U+FFFD for every byte that is not part of a code point, one each, as llama.cpp encodes it.
[[nodiscard]] inline std::string replace_invalid(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Utf8Sequence sequence = read_utf8(text);
    if (sequence.kind == Utf8Sequence::Kind::complete) {
      valid.append(text, 0, sequence.bytes);
    } else {
      for (std::size_t i = 0; i < sequence.bytes; ++i) valid += replacement_character;
    }
    text.remove_prefix(sequence.bytes);
  }
  return valid;
}

/// Joins pieces that may end inside a character into text that never does.
///
/// What cannot become a character is replaced by U+FFFD, one for each maximal subpart, as browsers and Python do:
/// the text does not depend on where the pieces were cut.
class Utf8Stream {
 public:
  /// The text that is complete after these bytes; at most three bytes stay behind.
  [[nodiscard]] std::string push(std::string_view bytes) {
    pending_ += bytes;
    std::string_view rest = pending_;
    std::string text;
    text.reserve(rest.size());
    while (!rest.empty()) {
      const Utf8Sequence sequence = read_utf8(rest);
      if (sequence.kind == Utf8Sequence::Kind::cut) break;
      text += sequence.kind == Utf8Sequence::Kind::complete ? rest.substr(0, sequence.bytes) : replacement_character;
      rest.remove_prefix(sequence.bytes);
    }
    pending_.erase(0, pending_.size() - rest.size());
    return text;
  }

  /// Ends the text: U+FFFD if it ends inside a character, else nothing. The stream can be used anew.
  [[nodiscard]] std::string flush() {
    return std::string(std::exchange(pending_, {}).empty() ? std::string_view() : replacement_character);
  }

 private:
  std::string pending_;
};

}  // namespace lazymoe::text
