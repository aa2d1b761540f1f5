#include <lazymoe/text/sentence_piece.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::text {

namespace {

using Tokens = std::vector<TokenId>;

/// Ids in order of the calls.
class Pieces {
 public:
  Pieces() : vocabulary_(64) { token("<unk>", 0, TokenKind::unknown); }

  TokenId token(std::string_view bytes, float score, TokenKind kind = TokenKind::normal) {
    vocabulary_.add(bytes, kind, kind == TokenKind::normal);
    scores_.push_back(score);
    return static_cast<TokenId>(vocabulary_.size() - 1);
  }

  [[nodiscard]] Tokens encode(std::string_view text) const {
    SentencePiece::Scratch scratch;
    Tokens tokens;
    SentencePiece(vocabulary_, scores_, 0).encode(vocabulary_, text, scratch, tokens);
    return tokens;
  }

 private:
  Vocabulary vocabulary_;
  std::vector<float> scores_;
};

}  // namespace

TEST_CASE("the pair with the highest score is joined first, then the leftmost", "[text][sentence_piece]") {
  Pieces pieces;
  const TokenId a = pieces.token("a", -9);
  const TokenId b = pieces.token("b", -9);
  const TokenId ab = pieces.token("ab", -2);
  const TokenId ba = pieces.token("ba", -1);
  const TokenId aa = pieces.token("aa", -3);
  CHECK(pieces.encode("ab") == Tokens{ab});
  CHECK(pieces.encode("aba") == Tokens{a, ba});
  CHECK(pieces.encode("aaa") == Tokens{aa, a});
  CHECK(pieces.encode("bb") == Tokens{b, b});
  CHECK(pieces.encode("").empty());
}

TEST_CASE("what was joined is joined on", "[text][sentence_piece]") {
  Pieces pieces;
  for (const char* letter : {"x", "y", " "}) pieces.token(letter, -9);
  pieces.token(" x", -1);
  const TokenId xy = pieces.token("xy", -2);
  const TokenId word = pieces.token(" xy", -3);
  CHECK(pieces.encode(" xy xy") == Tokens{word, word});
  CHECK(pieces.encode("xy") == Tokens{xy});
}

TEST_CASE("characters outside the vocabulary are spelled as bytes", "[text][sentence_piece]") {
  Pieces pieces;
  const TokenId e2 = pieces.token("\xE2", 0, TokenKind::byte);
  const TokenId x82 = pieces.token("\x82", 0, TokenKind::byte);
  const TokenId euro = pieces.token("\xAC", 0, TokenKind::byte);
  const TokenId c = pieces.token("c", -1);
  CHECK(pieces.encode("\u20ACc") == Tokens{e2, x82, euro, c});
  SECTION("or unknown") { CHECK(pieces.encode("cz") == Tokens{c, 0}); }
}

TEST_CASE("control tokens do not come out of merging", "[text][sentence_piece]") {
  Pieces pieces;
  const TokenId less = pieces.token("<", -5);
  const TokenId s = pieces.token("s", -6);
  const TokenId more = pieces.token(">", -7);
  const TokenId begin = pieces.token("<s", -1);
  pieces.token("<s>", 0, TokenKind::control);
  CHECK(pieces.encode("<s>") == Tokens{begin, more});
  CHECK(pieces.encode("s<") == Tokens{s, less});
}

}  // namespace lazymoe::text
