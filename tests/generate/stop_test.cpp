#include <cstddef>
#include <lazymoe/generate/stop.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::generate {

namespace {

std::string shown(StopMatcher matcher, std::string_view text, std::size_t piece) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); i += piece) result += matcher.push(text.substr(i, piece));
  return result + matcher.flush();
}

}  // namespace

TEST_CASE("text before a stop string is shown, the rest is not", "[generate][stop]") {
  StopMatcher matcher({"END", "\nUser:"});
  CHECK(matcher.push("abc E") == "abc ");
  CHECK(matcher.push("N") == "");
  CHECK(matcher.push("x E") == "ENx ");
  CHECK_FALSE(matcher.stopped());
  CHECK(matcher.push("NDxyz") == "");
  CHECK(matcher.stopped());
  CHECK(matcher.push("more") == "");
  CHECK(matcher.flush() == "");
}

TEST_CASE("held text comes out at the end", "[generate][stop]") {
  StopMatcher matcher({"END"});
  CHECK(matcher.push("the EN") == "the ");
  CHECK(matcher.flush() == "EN");
  CHECK_FALSE(matcher.stopped());
}

TEST_CASE("without stop strings everything is shown at once", "[generate][stop]") {
  StopMatcher matcher;
  CHECK(matcher.push("anything") == "anything");
  CHECK(matcher.flush().empty());
}

TEST_CASE("the stop string that is complete first counts, of several the longest", "[generate][stop]") {
  for (std::size_t piece = 1; piece < 7; ++piece) {
    CHECK(shown(StopMatcher({"abcd", "bc"}), "xabcdy", piece) == "xa");
    CHECK(shown(StopMatcher({"bc", "abc"}), "xabcdy", piece) == "x");
    CHECK(shown(StopMatcher({"aab"}), "aaaab", piece) == "aa");
  }
}

TEST_CASE("what is shown does not depend on the pieces", "[generate][stop]") {
  const auto seed = GENERATE(range(0U, 50U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto word = [&](std::size_t longest) {
    std::string text;
    for (auto n = 1 + random() % longest; n != 0; --n) text += static_cast<char>('a' + random() % 2);
    return text;
  };
  const std::vector<std::string> stops{word(6), word(8), word(8)};
  const std::string text = word(40);
  CAPTURE(text, stops);
  const std::string whole = shown(StopMatcher(stops), text, text.size());
  for (const std::string& stop : stops) CHECK(whole.find(stop) == std::string::npos);
  CHECK(text.starts_with(whole));
  for (std::size_t piece = 1; piece < text.size(); ++piece) CHECK(shown(StopMatcher(stops), text, piece) == whole);
}

TEST_CASE("an empty stop string is refused", "[generate][stop]") {
  CHECK(test::error_of([] { StopMatcher({"x", ""}); }).code() == Errc::bad_argument);
}

}  // namespace lazymoe::generate
