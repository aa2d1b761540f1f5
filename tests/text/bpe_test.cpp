#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <lazymoe/text/bpe.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::text {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Toy {
  Vocabulary vocabulary;
  Bpe bpe;

  /// Ids 0 to 25 are the letters, then come the merged texts.
  explicit Toy(const Pairs& merges) : vocabulary(letters(merges)), bpe(vocabulary, merges.size()) {
    for (const auto& [left, right] : merges) bpe.add_merge(vocabulary, left, right);
  }

  static Vocabulary letters(const Pairs& merges) {
    Vocabulary vocabulary(26 + merges.size());
    for (char c = 'a'; c <= 'z'; ++c) vocabulary.add({&c, 1}, TokenKind::normal, true);
    for (const auto& [left, right] : merges) vocabulary.add(left + right, TokenKind::normal, true);
    return vocabulary;
  }

  [[nodiscard]] std::vector<std::string> pieces(std::string_view text) const {
    Bpe::Scratch scratch;
    std::vector<TokenId> tokens;
    bpe.encode(text, scratch, tokens);
    std::vector<std::string> pieces;
    for (const TokenId token : tokens) pieces.emplace_back(vocabulary.bytes(token));
    return pieces;
  }
};

/// The definition, word for word: again and again the best pair, leftmost first.
std::vector<std::string> merged_slowly(const Pairs& merges, std::string_view text) {
  std::vector<std::string> symbols;
  for (const char c : text) symbols.emplace_back(1, c);
  for (;;) {
    std::size_t best_rank = merges.size();
    std::size_t best_place = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      for (std::size_t rank = 0; rank < best_rank; ++rank) {
        if (merges[rank].first != symbols[i] || merges[rank].second != symbols[i + 1]) continue;
        best_rank = rank;
        best_place = i;
      }
    }
    if (best_rank == merges.size()) return symbols;
    symbols[best_place] += symbols[best_place + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best_place) + 1);
  }
}

}  // namespace

TEST_CASE("the pair that stands first in the list is merged first, the leftmost of equals", "[text][bpe]") {
  const Toy toy({{"b", "c"}, {"a", "b"}, {"a", "a"}, {"aa", "a"}});
  CHECK(toy.pieces("abc") == std::vector<std::string>{"a", "bc"});
  CHECK(toy.pieces("aab") == std::vector<std::string>{"a", "ab"});
  CHECK(toy.pieces("aaa") == std::vector<std::string>{"aaa"});
  CHECK(toy.pieces("aaaa") == std::vector<std::string>{"aa", "aa"});
  CHECK(toy.pieces("x") == std::vector<std::string>{"x"});
  CHECK(toy.pieces("").empty());
}

TEST_CASE("merging with a heap gives what merging by definition gives", "[text][bpe]") {
  const auto seed = GENERATE(range(0U, 40U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  Pairs merges;
  std::vector<std::string> known{"a", "b", "c"};
  for (int i = 0; i < 30; ++i) {
    const std::string left = known[random() % known.size()];
    const std::string right = known[random() % known.size()];
    if (left.size() + right.size() > 12) continue;
    merges.emplace_back(left, right);
    known.push_back(left + right);
  }
  const Toy toy(merges);
  for (int i = 0; i < 50; ++i) {
    std::string text;
    for (auto n = random() % 60; n != 0; --n) text += static_cast<char>('a' + random() % 3);
    REQUIRE(toy.pieces(text) == merged_slowly(merges, text));
  }
}

TEST_CASE("what no token stands for is left out, byte by byte", "[text][bpe]") {
  Vocabulary vocabulary(2);
  vocabulary.add("a", TokenKind::normal, true);
  vocabulary.add("bc", TokenKind::normal, true);
  Bpe bpe(vocabulary, 3);
  bpe.add_merge(vocabulary, "b", "c");  // both parts tokenless, the result a token
  bpe.add_merge(vocabulary, "a", "x");  // the result tokenless, one part of it a token
  bpe.add_merge(vocabulary, "ax", "bc");

  const auto encode = [&](std::string_view text) {
    Bpe::Scratch scratch;
    std::vector<TokenId> tokens;
    bpe.encode(text, scratch, tokens);
    return tokens;
  };
  CHECK(encode("abc") == std::vector<TokenId>{0, 1});
  CHECK(encode("b") == std::vector<TokenId>{});
  CHECK(encode("aax") == std::vector<TokenId>{0, 0});
  CHECK(encode("axbc") == std::vector<TokenId>{0});
}

TEST_CASE("of two equal merges the first counts", "[text][bpe]") {
  const Toy toy({{"a", "b"}, {"b", "c"}, {"a", "b"}});
  CHECK(toy.pieces("abc") == std::vector<std::string>{"ab", "c"});
}

TEST_CASE("without a list the pair whose token has the lowest id is merged first", "[text][bpe]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::vector<std::string> known{"a", "b", "c"};
  while (known.size() < 30) {
    const std::string text = known[random() % known.size()] + known[random() % known.size()];
    if (text.size() <= 12 && std::ranges::find(known, text) == known.end()) known.push_back(text);
  }
  Vocabulary vocabulary(known.size());
  for (const std::string& text : known) vocabulary.add(text, TokenKind::normal, true);
  Bpe bpe(vocabulary, Bpe::count_merges_of_tokens(vocabulary));
  bpe.add_merges_of_tokens(vocabulary);

  const auto rank = [&](const std::string& text) { return std::ranges::find(known, text) - known.begin(); };
  Bpe::Scratch scratch;
  for (int i = 0; i < 50; ++i) {
    std::string text;
    for (auto n = random() % 60; n != 0; --n) text += static_cast<char>('a' + random() % 3);
    std::vector<std::string> symbols;
    for (const char c : text) symbols.emplace_back(1, c);
    for (;;) {
      auto best_rank = std::ssize(known);
      std::size_t best_place = 0;
      for (std::size_t k = 0; k + 1 < symbols.size(); ++k) {
        if (rank(symbols[k] + symbols[k + 1]) < best_rank) {
          best_rank = rank(symbols[k] + symbols[k + 1]);
          best_place = k;
        }
      }
      if (best_rank == std::ssize(known)) break;
      symbols[best_place] += symbols[best_place + 1];
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best_place) + 1);
    }
    std::vector<TokenId> tokens;
    bpe.encode(text, scratch, tokens);
    std::vector<std::string> pieces;
    for (const TokenId token : tokens) pieces.emplace_back(vocabulary.bytes(token));
    REQUIRE(pieces == symbols);
  }
}

TEST_CASE("a piece of a megabyte takes no quadratic time", "[text][bpe]") {
  const Toy toy({{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}, {"a", "b"}});
  std::string text(1 << 20, 'a');
  text += "ab";
  const auto begin = std::chrono::steady_clock::now();
  const auto pieces = toy.pieces(text);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  CHECK(pieces.size() == (1 << 17) + 1);
  CHECK(pieces.back() == "ab");
  CHECK(taken.count() < 20);  // quadratic time would be hours
}

}  // namespace lazymoe::text
