#include <lazymoe/text/byte_alphabet.hpp>
#include <string>

#include "support/catch.hpp"
#include "support/toy_tokenizer.hpp"

namespace lazymoe::text {

static_assert(byte_alphabet['A'] == 'A' && byte_alphabet[0xE9] == 0xE9);
static_assert(byte_alphabet[0] == 0x100 && byte_alphabet[' '] == 0x120 && byte_alphabet['\n'] == 0x10A);
static_assert(byte_alphabet[0x7F] == 0x121 && byte_alphabet[0xA0] == 0x142 && byte_alphabet[0xAD] == 0x143);

TEST_CASE("the byte alphabet spells all bytes and reads them back", "[text][bytes]") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(from_byte_alphabet(test::ToyTokenizer::spelled(all)) == all);
  CHECK(from_byte_alphabet("\u0120Hello\u010A") == " Hello\n");
}

TEST_CASE("a text outside the byte alphabet is refused", "[text][bytes]") {
  for (const char* text : {" ", "a b", "\u0144", "\u2581", "\U0001F600", "\xC4", "\xC4x", "\xA1", "\u00A0"}) {
    CAPTURE(text);
    CHECK_FALSE(from_byte_alphabet(text).has_value());
  }
}

}  // namespace lazymoe::text
