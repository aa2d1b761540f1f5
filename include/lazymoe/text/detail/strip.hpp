#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace lazymoe::text::detail {

/// What Python's str.strip() takes off, which templates call: Unicode White_Space and U+001C to U+001F.
inline constexpr std::string_view stripped_spaces[] = {
    "\t",     "\n",     "\v",     "\f",     "\r",     "\x1C",   "\x1D",   "\x1E",   "\x1F",   " ",
    "\u0085", "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
    "\u2007", "\u2008", "\u2009", "\u200A", "\u2028", "\u2029", "\u202F", "\u205F", "\u3000"};

/// `text` without spaces of any kind at both ends.
[[nodiscard]] constexpr std::string_view strip(std::string_view text) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view space : stripped_spaces) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        found = true;
      }
      if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        found = true;
      }
    }
  }
  return text;
}

[[nodiscard]] constexpr std::string_view strip_newlines_left(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

[[nodiscard]] constexpr std::string_view strip_newlines_right(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);  // npos + 1 is 0
}

[[nodiscard]] constexpr std::string_view strip_newlines(std::string_view text) {
  return strip_newlines_left(strip_newlines_right(text));
}

/// `text` from behind the last `mark`, all of it if there is none.
[[nodiscard]] constexpr std::string_view after_last(std::string_view text, std::string_view mark) {
  const std::size_t found = text.rfind(mark);
  return found == std::string_view::npos ? text : text.substr(found + mark.size());
}

}  // namespace lazymoe::text::detail
