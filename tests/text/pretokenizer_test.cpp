#include <chrono>
#include <cstddef>
#include <lazymoe/text/pretokenizer.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

namespace {

using Words = std::vector<std::string>;

Words words(const Pretokenizer& pretokenizer, std::string_view text) {
  Words words;
  pretokenizer.split(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

}  // namespace

TEST_CASE("qwen2 splits as its published expression says", "[text][pretokenizer]") {
  const Pretokenizer qwen2("qwen2");
  CHECK(words(qwen2, "Hello world") == Words{"Hello", " world"});
  CHECK(words(qwen2, "I'm DON'T 'tis") == Words{"I", "'m", " DON", "'T", " '", "tis"});
  CHECK(words(qwen2, "x123") == Words{"x", "1", "2", "3"});
  CHECK(words(qwen2, "a  b   ") == Words{"a", " ", " b", "   "});
  CHECK(words(qwen2, "a  \n\n  b") == Words{"a", "  \n\n", " ", " b"});
  CHECK(words(qwen2, "x!?\r\n\r\ny") == Words{"x", "!?\r\n\r\n", "y"});
  CHECK(words(qwen2, "(a) [b]") == Words{"(a", ")", " [", "b", "]"});
  CHECK(words(qwen2, "\u00A0\u00A0x") == Words{"\u00A0", "\u00A0x"});
  CHECK(words(qwen2, "a\u0301b") == Words{"a", "\u0301b"});
  CHECK(words(qwen2, "").empty());
}

TEST_CASE("U+180E, once a space, is none", "[text][pretokenizer]") {
  CHECK(words(Pretokenizer("qwen2"), "!\u180E!") == Words{"!\u180E!"});
  CHECK(words(Pretokenizer("qwen2"), "!\u0085!") == Words{"!", "\u0085", "!"});
}

TEST_CASE("the pieces of a text are the text", "[text][pretokenizer]") {
  const Pretokenizer qwen2("deepseek-r1-qwen");
  for (const std::string text : {"\n \n", "\u0301\u200D", "a\U0010FFFFb", "'s't", " \t\r\n x", "\u2028\u2029"}) {
    std::string joined;
    for (const std::string& word : words(qwen2, text)) joined += word;
    CHECK(joined == text);
  }
  CHECK(words(qwen2, std::string_view("a\0b", 3)).size() == 2);
}

TEST_CASE("texts of megabytes take linear time, whatever they are made of", "[text][pretokenizer]") {
  const SplitRule& rule = split_rules[GENERATE(range(std::size_t{0}, std::size(split_rules)))];
  CAPTURE(rule.names[0]);
  const Pretokenizer pretokenizer(rule);
  const auto seconds = [&](const std::string& text) {
    std::size_t bytes = 0;
    const auto begin = std::chrono::steady_clock::now();
    pretokenizer.split(text, [&](std::string_view word) { bytes += word.size(); });
    CHECK(bytes == text.size());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  constexpr std::size_t n = 1 << 20;
  for (const std::string unit :
       {"a", "A", " ", "\n", "1", "!", "\u3000", "\u65E5", "\u0E01", "\u02B0", " \n", " a", "'", "\u0301", "\x01"}) {
    std::string text;
    while (text.size() < n) text += unit;
    CAPTURE(unit);
    CHECK(seconds(text) < 20);  // some 10 ms; quadratic time would be an hour
    CHECK(seconds(text + "x") < 20);
    CHECK(seconds("x" + text + "1") < 20);
  }
  CHECK(seconds(std::string(16 << 20, ' ') + "x") < 60);
}

TEST_CASE("one pre-tokenizer serves many threads", "[text][pretokenizer]") {
  const Pretokenizer qwen2("qwen2");
  const std::string text = "It's 12 o'clock:\r\n  time\tto go\u2026 \u65E5\u672C ";
  const Words expected = words(qwen2, text);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) wrong[t] += words(qwen2, text) != expected;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("expressions apply in order, and what lies between matches stays", "[text][pretokenizer]") {
  const detail::Regex digits(R"(\p{N}{1,3})");
  const auto room = digits.matches();
  CHECK(digits.find("ab1234", 0, room) == "123");
  CHECK(digits.find("ab1234", 5, room) == "4");
  CHECK(digits.find("ab", 0, room).empty());
}

TEST_CASE("Han is the script of a character, not the scripts that share it", "[text][pretokenizer]") {
  const detail::Regex han(R"(\p{Han}+)");
  CHECK(han.find("\u3001\u65E5\u3002", 0, han.matches()) == "\u65E5");
}

TEST_CASE("\\s is spelled out inside and outside of classes", "[text][pretokenizer]") {
  const std::string plain = detail::spelled_for_pcre2(R"(\s)");
  CHECK(plain.front() == '[');
  CHECK(plain.back() == ']');
  const std::string list = plain.substr(1, plain.size() - 2);
  CHECK(detail::spelled_for_pcre2(R"([^\s\[\p{L}]+\S\\s)") == "[^" + list + R"(\[\p{L}]+[^)" + list + R"(]\\s)");
}

TEST_CASE("a broken expression is an error", "[text][pretokenizer]") {
  CHECK(test::error_of([] { detail::Regex("(a"); }).code() == Errc::unsupported_tokenizer);
}

}  // namespace lazymoe::text
