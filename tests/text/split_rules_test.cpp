#include <cstddef>
#include <fstream>
#include <iterator>
#include <lazymoe/text/pretokenizer.hpp>
#include <lazymoe/text/split_rules.hpp>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/golden_lines.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

namespace {

using Words = std::vector<std::string>;

Words words(std::string_view pre, std::string_view text) {
  Words words;
  Pretokenizer(pre).split(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

}  // namespace

TEST_CASE("no name stands for two rules", "[text][pretokenizer]") {
  std::set<std::string_view> names;
  for (const SplitRule& rule : split_rules) {
    for (const std::string_view name : rule.names) {
      if (name.empty()) continue;
      CAPTURE(name);
      CHECK(names.insert(name).second);
      CHECK(&split_rule(name) == &rule);
    }
  }
}

TEST_CASE("an unknown pre-tokenizer is named together with the known ones", "[text][pretokenizer]") {
  const Error error = test::error_of([] { (void)split_rule("tekken"); });
  CHECK(error.code() == Errc::unsupported_tokenizer);
  CHECK(test::mentions(error, "tekken"));
  CHECK(test::mentions(error, "qwen2, deepseek-r1-qwen"));
  CHECK(test::error_of([] { (void)split_rule(""); }).code() == Errc::unsupported_tokenizer);
}

TEST_CASE("hard strings are cut where the published expressions cut them", "[text][pretokenizer]") {
  std::ifstream golden(LAZYMOE_GOLDEN_DIR "/text/splits.tsv");
  std::string line;
  REQUIRE(std::getline(golden, line));
  const auto families = test::tab_fields(line);
  std::set<const SplitRule*> seen;
  std::vector<Pretokenizer> pretokenizers;
  for (std::size_t i = 1; i < families.size(); ++i) {
    seen.insert(&split_rule(families[i]));
    pretokenizers.emplace_back(families[i]);
  }
  CHECK(seen.size() == std::size(split_rules));  // none is left out

  int n = 0;
  for (; std::getline(golden, line); ++n) {
    const auto field = test::tab_fields(line);
    REQUIRE(field.size() == families.size());
    const std::string text = test::unhex(field[0]);
    for (std::size_t i = 1; i < field.size(); ++i) {
      std::vector<std::size_t> expected;
      std::istringstream runs(field[i] == "=" ? field[1] : field[i]);
      for (std::string run; runs >> run;) {
        const std::size_t cross = run.find('x');
        expected.insert(expected.end(), cross == std::string::npos ? 1U : std::stoul(run.substr(cross + 1)),
                        std::stoul(run.substr(0, cross)));
      }
      std::vector<std::size_t> lengths;
      pretokenizers[i - 1].split(text, [&](std::string_view word) { lengths.push_back(word.size()); });
      CAPTURE(families[i], text, field[0]);
      CHECK(lengths == expected);
    }
  }
  CHECK(n > 300);
}

TEST_CASE("qwen35 keeps marks with their letters", "[text][pretokenizer]") {
  CHECK(words("qwen35", "e\u0301a b\u0301") == Words{"e\u0301a", " b\u0301"});
  CHECK(words("qwen2", "e\u0301a b\u0301") == Words{"e", "\u0301a", " b", "\u0301"});
}

TEST_CASE("llama-bpe and glm4 take digits by three", "[text][pretokenizer]") {
  CHECK(words("llama-bpe", "x12345") == Words{"x", "123", "45"});
  CHECK(words("glm4", "x12345") == Words{"x", "123", "45"});
}

TEST_CASE("gpt-2 knows small contractions only and no words over line ends", "[text][pretokenizer]") {
  CHECK(words("olmo", "it's IT'S") == Words{"it", "'s", " IT", "'", "S"});
  CHECK(words("gpt-2", "a!\n\n b 123") == Words{"a", "!", "\n\n", " b", " 123"});
  CHECK(words("mpt", "(a)") == Words{"(", "a", ")"});
}

TEST_CASE("kimi-k2 and gpt-4o begin a word at a capital, as published and not as llama.cpp approximates",
          "[text][pretokenizer]") {
  for (const char* pre : {"kimi-k2", "gpt-4o"}) {
    CAPTURE(pre);
    CHECK(words(pre, "fooBar HTTPServer") == Words{"foo", "Bar", " HTTPServer"});
    CHECK(words(pre, "don't DON'T") == Words{"don't", " DON'T"});
    CHECK(words(pre, "\u0434\u041C\u0438\u0440") == Words{"\u0434", "\u041C\u0438\u0440"});  // Cyrillic
    CHECK(words(pre, "e\u0301a1234") == Words{"e\u0301a", "123", "4"});
  }
  SECTION("kimi-k2 sets Han apart, gpt-4o does not") {
    CHECK(words("kimi-k2", "a\u65E5\u672C\u3042") == Words{"a", "\u65E5\u672C", "\u3042"});
    CHECK(words("gpt-4o", "a\u65E5\u672C\u3042") == Words{"a\u65E5\u672C\u3042"});
  }
  SECTION("gpt-4o lets slashes follow punctuation") {
    CHECK(words("gpt-4o", "a!\n/b") == Words{"a", "!\n/", "b"});
    CHECK(words("kimi-k2", "a!\n/b") == Words{"a", "!\n", "/b"});
  }
}

TEST_CASE("deepseek-v3 cuts out digits, then CJK", "[text][pretokenizer]") {
  CHECK(words("deepseek-v3", "a1234b") == Words{"a", "123", "4", "b"});
  CHECK(words("deepseek-v3", "x\u65E5\u3042 (a)") == Words{"x", "\u65E5\u3042", " (", "a", ")"});
  CHECK(words("deepseek-v3", "'S .txt") == Words{"'S", " .", "txt"});
}

TEST_CASE("deepseek-llm looks at a word's own letters only", "[text][pretokenizer]") {
  CHECK(words("deepseek-llm", "Hello world!  ") == Words{"Hello", " world", "!", "  "});
  CHECK(words("deepseek-llm", "a\n\nb12") == Words{"a", "\n", "\n", "b", "12"});
  CHECK(words("deepseek-llm", "  \u00E9  ") == Words{" ", " \u00E9", "  "});
}

}  // namespace lazymoe::text
