#include <lazymoe/text/detail/read_vocabulary.hpp>

#include "support/catch.hpp"

namespace lazymoe::text::detail {

// Reading whole files is tested with the Tokenizer.

TEST_CASE("the name of a byte token is two upper-case hexadecimal digits", "[text][vocabulary]") {
  CHECK(byte_of_name("<0x0A>") == '\n');
  CHECK(byte_of_name("<0xFF>") == '\xFF');
  for (const char* text : {"<0x0a>", "<0x0G>", "<0x0A", "0x0A", "<0x00A>", ""}) {
    CAPTURE(text);
    CHECK_FALSE(byte_of_name(text).has_value());
  }
}

TEST_CASE("SentencePiece's marks of spaces are read as spaces", "[text][vocabulary]") {
  CHECK(with_spaces("\u2581a\u2581\u2581") == " a  ");
  CHECK(with_spaces("\u2582 \xE2\x96") == "\u2582 \xE2\x96");
  CHECK(with_spaces("").empty());
}

TEST_CASE("end markers are control tokens and unused ones no control tokens, whatever the file says",
          "[text][vocabulary]") {
  CHECK(corrected(TokenKind::normal, "<|im_end|>") == TokenKind::control);
  CHECK(corrected(TokenKind::control, "<|unused_1|>") == TokenKind::unused);
  CHECK(corrected(TokenKind::normal, "unused") == TokenKind::normal);
  CHECK(corrected(TokenKind::user_defined, "<think>") == TokenKind::user_defined);
}

}  // namespace lazymoe::text::detail
