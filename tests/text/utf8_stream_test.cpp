#include <lazymoe/text/utf8_stream.hpp>
#include <string>
#include <string_view>

#include "support/catch.hpp"

namespace lazymoe::text {

using Kind = Utf8Sequence::Kind;

static_assert(read_utf8("ab").bytes == 1 && read_utf8("\u00E9x").bytes == 2 && read_utf8("\U0001F600").bytes == 4);
static_assert(read_utf8("\xC0\x80").kind == Kind::broken, "overlong");
static_assert(read_utf8("\xE0\x9F\xBF").kind == Kind::broken, "overlong");
static_assert(read_utf8("\xED\xA0\x80").kind == Kind::broken, "surrogate");
static_assert(read_utf8("\xF4\x90\x80\x80").kind == Kind::broken, "above U+10FFFF");
static_assert(read_utf8("\xF4\x8F\xBF\xBF").kind == Kind::complete);
static_assert(read_utf8("\xF0\x9F\x98").kind == Kind::cut && read_utf8("\xF0\x9F\x98").bytes == 3);
static_assert(read_utf8("\xF0\x9F\x41").kind == Kind::broken && read_utf8("\xF0\x9F\x41").bytes == 2);

namespace {

std::string streamed(std::string_view bytes, std::size_t piece) {
  Utf8Stream stream;
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += piece) {
    const std::string part = stream.push(bytes.substr(i, piece));
    CHECK(replace_invalid(part) == part);  // never half a character
    text += part;
  }
  return text + stream.flush();
}

}  // namespace

TEST_CASE("a character comes out when its last byte has come in", "[text][utf8]") {
  Utf8Stream stream;
  CHECK(stream.push("a\xF0\x9F") == "a");
  CHECK(stream.push("\x98").empty());
  CHECK(stream.push("\x80z") == "\U0001F600z");
  CHECK(stream.flush().empty());
}

TEST_CASE("each maximal subpart becomes one U+FFFD", "[text][utf8]") {
  // The Unicode Standard 15.0, tables 3-8 to 3-11.
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "????????A"},
      {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "????????A"},
      {"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "?????A??B"},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "????A"},
  };
  for (const auto& [bytes, marked] : cases) {
    std::string expected;
    for (const char c : marked) {
      if (c == '?')
        expected += replacement_character;
      else
        expected += c;
    }
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) CHECK(streamed(bytes, piece) == expected);
  }
}

TEST_CASE("a stream that ends inside a character says so once and is then as new", "[text][utf8]") {
  Utf8Stream stream;
  CHECK(stream.push("\xE2\x82").empty());
  CHECK(stream.flush() == replacement_character);
  CHECK(stream.push("\xAC") == replacement_character);
  CHECK(stream.flush().empty());
}

TEST_CASE("replace_invalid marks every byte that is part of no character", "[text][utf8]") {
  CHECK(replace_invalid("caf\u00E9 \U0001F600") == "caf\u00E9 \U0001F600");
  CHECK(replace_invalid("a\xE2\x82z") == "a\uFFFD\uFFFDz");
  CHECK(replace_invalid("\xF0\x9F\x98") == "\uFFFD\uFFFD\uFFFD");
  CHECK(replace_invalid("").empty());
}

}  // namespace lazymoe::text
