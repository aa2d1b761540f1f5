#include <lazymoe/text/special_tokens.hpp>
#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::text {

namespace {

Vocabulary toy() {
  Vocabulary vocabulary(6);
  vocabulary.add("<e>", TokenKind::control, false);          // 0
  vocabulary.add("<e><e>", TokenKind::user_defined, false);  // 1
  vocabulary.add("  ", TokenKind::user_defined, false);      // 2
  vocabulary.add("<unk>", TokenKind::unknown, false);        // 3
  vocabulary.add("", TokenKind::control, false);             // 4
  vocabulary.add("plain", TokenKind::normal, true);          // 5
  return vocabulary;
}

std::vector<Fragment> cut(std::string_view text, std::vector<TrustedRange> trusted) {
  const Vocabulary vocabulary = toy();
  return SpecialTokenFinder(vocabulary).cut(vocabulary, text, trusted);
}

}  // namespace

TEST_CASE("user-defined tokens are found everywhere, control tokens in trusted ranges", "[text][special]") {
  CHECK(cut("a  <e>", {}) == std::vector<Fragment>{{0, 1}, {1, 3, 2}, {3, 6}});
  CHECK(cut("a  <e>", {{0, 6}}) == std::vector<Fragment>{{0, 1}, {1, 3, 2}, {3, 6, 0}});
  CHECK(cut("<e>x<e>", {{0, 3}}) == std::vector<Fragment>{{0, 3, 0}, {3, 7}});
  CHECK(cut("<e>x<e>", {{3, 7}}) == std::vector<Fragment>{{0, 4}, {4, 7, 0}});
  CHECK(cut("<unk>plain", {{0, 10}}) == std::vector<Fragment>{{0, 5, 3}, {5, 10}});
  CHECK(cut("", {}).empty());
}

TEST_CASE("a control token that leaves its trusted range is text", "[text][special]") {
  CHECK(cut("<e>", {{0, 2}}) == std::vector<Fragment>{{0, 3}});
  CHECK(cut("<e>", {{0, 2}, {4, 9}}) == std::vector<Fragment>{{0, 3}});
  CHECK(cut("a<e>", {{0, 1}, {2, 4}}) == std::vector<Fragment>{{0, 4}});
}

TEST_CASE("the longest token wins", "[text][special]") {
  CHECK(cut("<e><e><e>", {{0, 9}}) == std::vector<Fragment>{{0, 6, 1}, {6, 9, 0}});
  CHECK(cut("   ", {}) == std::vector<Fragment>{{0, 2, 2}, {2, 3}});
}

TEST_CASE("special tokens are found by their text", "[text][special]") {
  const Vocabulary vocabulary = toy();
  const SpecialTokenFinder finder(vocabulary);
  CHECK(finder.find(vocabulary, "<unk>") == 3);
  CHECK_FALSE(finder.find(vocabulary, "plain").has_value());
  CHECK_FALSE(finder.find(vocabulary, "").has_value());
}

}  // namespace lazymoe::text
