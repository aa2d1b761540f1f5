#include <lazymoe/text/vocabulary.hpp>

#include "support/catch.hpp"

namespace lazymoe::text {

TEST_CASE("a vocabulary keeps bytes and kinds by id, and finds the first mergeable token", "[text][vocabulary]") {
  Vocabulary vocabulary(5);
  vocabulary.add("<s>", TokenKind::control, false);
  vocabulary.add("ab", TokenKind::normal, true);
  vocabulary.add("", TokenKind::normal, true);
  vocabulary.add("ab", TokenKind::normal, true);
  vocabulary.add(std::string_view("\0x", 2), TokenKind::user_defined, false);

  CHECK(vocabulary.size() == 5);
  CHECK(vocabulary.bytes(0) == "<s>");
  CHECK(vocabulary.bytes(2).empty());
  CHECK(vocabulary.bytes(4).size() == 2);
  CHECK(vocabulary.kind(4) == TokenKind::user_defined);
  CHECK(vocabulary.find("ab") == 1);
  CHECK_FALSE(vocabulary.find("<s>").has_value());
  CHECK(vocabulary.contains(4));
  CHECK_FALSE(vocabulary.contains(5));
  CHECK_FALSE(vocabulary.contains(no_token));
}

}  // namespace lazymoe::text
