#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../../core/error.hpp"

namespace lazymoe::text::detail {

/// Reads JSON text and writes it again as Python's json.dumps(ensure_ascii=False) would, which is what models were
/// trained on: `{"a": [1, 2]}`. Order and numbers stay as they are.
class JsonText {
 public:
  explicit JsonText(std::string_view json) : json_(json) {}

  /// All of the text as one value.
  /// @throws Error{bad_argument} when it is not JSON
  [[nodiscard]] std::string value() {
    std::string written;
    write_value(written, 0);
    expect_end();
    return written;
  }

  /// Calls `visit(key, value, is_string)` for each member of the object that the text is; a value that is a string
  /// comes as its characters, any other as JSON.
  /// @throws Error{bad_argument} when the text is no JSON object
  template <class Visit>
  void for_each_member(Visit visit) {
    std::string unused;
    write_list(unused, '{', '}', [&] {
      const std::string key = read_string();
      expect(':');
      if (peek() == '"') {
        visit(key, read_string(), true);
        return;
      }
      std::string value;
      write_value(value, 1);
      visit(key, value, false);
    });
    expect_end();
  }

 private:
  static constexpr int max_depth = 200;

  [[noreturn]] void fail(const char* expected) const {
    throw Error(Errc::bad_argument,
                std::string("JSON text: byte ").append(std::to_string(at_)).append(" should begin ").append(expected));
  }

  /// The next character that is no space; 0 at the end.
  [[nodiscard]] char peek() {
    at_ = std::min(json_.find_first_not_of(" \t\r\n", at_), json_.size());
    return at_ == json_.size() ? '\0' : json_[at_];
  }

  void expect(char c) {
    const char text[] = {'\'', c, '\'', '\0'};
    if (peek() != c) fail(text);
    ++at_;
  }

  void expect_end() {
    (void)peek();
    if (at_ != json_.size()) fail("nothing more");
  }

  void write_value(std::string& written, int depth) {
    if (depth > max_depth) fail("less deeply nested values");
    switch (peek()) {
      case '{':
        write_list(written, '{', '}', [&] {
          write_string(written, read_string());
          expect(':');
          written += ": ";
          write_value(written, depth + 1);
        });
        return;
      case '[':
        write_list(written, '[', ']', [&] { write_value(written, depth + 1); });
        return;
      case '"':
        write_string(written, read_string());
        return;
      default:
        write_word(written);
    }
  }

  template <class WriteItem>
  void write_list(std::string& written, char open, char close, WriteItem write_item) {
    expect(open);
    written += open;
    for (bool first = true; peek() != close; first = false) {
      if (!first) {
        expect(',');
        written += ", ";
      }
      write_item();
    }
    expect(close);
    written += close;
  }

  /// A number, true, false or null.
  void write_word(std::string& written) {
    const std::size_t end = std::min(json_.find_first_of(" \t\r\n,:]}[{\"", at_), json_.size());
    const std::string_view word = json_.substr(at_, end - at_);
    if (word != "true" && word != "false" && word != "null" && !is_number(word)) fail("a value");
    written += word;
    at_ = end;
  }

  [[nodiscard]] static bool is_number(std::string_view word) {
    const auto skip_digits = [&word] {
      const std::size_t n = std::min(word.find_first_not_of("0123456789"), word.size());
      word.remove_prefix(n);
      return n;
    };
    if (word.starts_with('-')) word.remove_prefix(1);
    const bool is_zero_first = word.starts_with('0');
    const std::size_t n_digits = skip_digits();
    if (n_digits == 0 || (is_zero_first && n_digits > 1)) return false;
    if (word.starts_with('.')) {
      word.remove_prefix(1);
      if (skip_digits() == 0) return false;
    }
    if (word.starts_with('e') || word.starts_with('E')) {
      word.remove_prefix(1);
      if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
      if (skip_digits() == 0) return false;
    }
    return word.empty();
  }

  [[nodiscard]] std::string read_string() {
    expect('"');
    std::string text;
    for (;;) {
      if (at_ == json_.size() || static_cast<unsigned char>(json_[at_]) < 0x20) fail("a character of a string");
      const char c = json_[at_++];
      if (c == '"') return text;
      if (c != '\\') {
        text += c;
        continue;
      }
      constexpr std::string_view names = "\"\\/bfnrt";
      constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
      const char escape = at_ == json_.size() ? '\0' : json_[at_++];
      if (escape == 'u') {
        append_utf8(text, read_code_point());
      } else if (const auto i = names.find(escape); escape != '\0' && i != std::string_view::npos) {
        text += meanings[i];
      } else {
        fail("an escaped character");
      }
    }
  }

  [[nodiscard]] std::uint32_t read_hex4() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      constexpr std::string_view digits = "0123456789abcdefABCDEF";
      const auto digit = at_ == json_.size() ? std::string_view::npos : digits.find(json_[at_]);
      if (digit == std::string_view::npos) fail("a hexadecimal digit");
      value = value * 16 + static_cast<std::uint32_t>(digit < 16 ? digit : digit - 6);
      ++at_;
    }
    return value;
  }

  /// What follows \u, of a pair of surrogates both.
  [[nodiscard]] std::uint32_t read_code_point() {
    constexpr std::uint32_t replacement = 0xFFFD;
    const std::uint32_t first = read_hex4();
    if (first < 0xD800 || first > 0xDFFF) return first;
    if (first > 0xDBFF || !json_.substr(at_).starts_with("\\u")) return replacement;
    const std::size_t before = at_;
    at_ += 2;
    const std::uint32_t second = read_hex4();
    if (second >= 0xDC00 && second <= 0xDFFF) return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    at_ = before;
    return replacement;
  }

  static void append_utf8(std::string& text, std::uint32_t c) {
    const auto byte = [&text](std::uint32_t bits) { text += static_cast<char>(static_cast<unsigned char>(bits)); };
    if (c < 0x80) return byte(c);
    if (c >= 0x10000) {
      byte(0xF0 | c >> 18);
      byte(0x80 | (c >> 12 & 0x3F));
    } else if (c >= 0x800) {
      byte(0xE0 | c >> 12);
    } else {
      byte(0xC0 | c >> 6);
    }
    if (c >= 0x800) byte(0x80 | (c >> 6 & 0x3F));
    byte(0x80 | (c & 0x3F));
  }

  static void write_string(std::string& written, std::string_view text) {
    constexpr std::string_view special = "\"\\\b\f\n\r\t";
    constexpr std::string_view names = "\"\\bfnrt";
    written += '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (const auto i = special.find(c); i != std::string_view::npos) {
        written += '\\';
        written += names[i];
      } else if (byte < 0x20) {
        constexpr std::string_view digits = "0123456789abcdef";
        written.append("\\u00").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
      } else {
        written += c;
      }
    }
    written += '"';
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

}  // namespace lazymoe::text::detail
