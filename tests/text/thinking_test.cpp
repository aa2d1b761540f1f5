#include <algorithm>
#include <cstddef>
#include <iterator>
#include <lazymoe/text/thinking.hpp>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::text {

namespace {

using Both = std::pair<std::string, std::string>;  // thinking, answer

/// All in one piece.
Both split(std::string_view text, bool is_open = false) {
  ThinkingSplitter splitter(is_open);
  auto [thinking, answer] = splitter.push(text);
  const auto rest = splitter.flush();
  return {thinking + rest.thinking, answer + rest.answer};
}

}  // namespace

TEST_CASE("thinking and answer come apart", "[text][thinking]") {
  CHECK(split("<think>\nHm.\n</think>\n\nYes.") == Both{"Hm.", "Yes."});
  CHECK(split("<think>\n\n</think>\n\nYes.") == Both{"", "Yes."});
  CHECK(split("\n<think>a\n\nb</think>c</think>") == Both{"a\n\nb", "c</think>"});
  CHECK(split("Yes. <think>no</think>") == Both{"", "Yes. <think>no</think>"});
  CHECK(split("  Yes") == Both{"", "  Yes"});
  CHECK(split("<thinking>") == Both{"", "<thinking>"});
  CHECK(split("<think>never\n</thin\n\n") == Both{"never\n</thin", ""});
  CHECK(split("<thi") == Both{"", "<thi"});
  CHECK(split("") == Both{"", ""});
}

TEST_CASE("a prompt may have opened the block", "[text][thinking]") {
  CHECK(split("Hm.\n</think>\n\nYes.", true) == Both{"Hm.", "Yes."});
  CHECK(split("\n\n</think>Yes.", true) == Both{"", "Yes."});
  CHECK(split("<think>\nHm.</think>Yes.", true) == Both{"Hm.", "Yes."});
  CHECK(split("<thi", true) == Both{"<thi", ""});
  CHECK(split("a </ b </think c </think>d", true) == Both{"a </ b </think c ", "d"});

  const std::vector<Segment> open{{"<|user|>", true}, {"hi", false}, {"<|assistant|><think>\n", true}};
  CHECK(opens_thinking(open));
  const std::vector<Segment> closed{{"<|assistant|><think>\n\n</think>\n\n", true}};
  CHECK_FALSE(opens_thinking(closed));
  const std::vector<Segment> said{{"<think>", false}};
  CHECK_FALSE(opens_thinking(said));
  CHECK_FALSE(opens_thinking({}));
}

TEST_CASE("it does not matter where pieces end", "[text][thinking]") {
  const auto seed = GENERATE(range(0U, 200U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  constexpr std::string_view units[] = {"<think>", "</think>", "\n", "\n\n", "a", "<", "</", "think>", " ", "</think"};
  std::string text = random() % 2 == 0 ? "<think>" : "";
  for (int i = 0; i < 12; ++i) text += units[random() % std::size(units)];
  const bool is_open = random() % 2 == 0;
  CAPTURE(text, is_open);

  ThinkingSplitter splitter(is_open);
  Both both;
  const auto add = [&both](const ThinkingSplitter::Parts& parts) {
    both.first += parts.thinking;
    both.second += parts.answer;
  };
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t n = std::min<std::size_t>(rest.size(), 1 + random() % 4);
    add(splitter.push(rest.substr(0, n)));
    rest.remove_prefix(n);
  }
  add(splitter.flush());
  CHECK(both == split(text, is_open));
}

TEST_CASE("what is certain comes at once", "[text][thinking]") {
  ThinkingSplitter splitter;
  CHECK_FALSE(splitter.is_thinking());
  CHECK(splitter.push("<think>\nI se").thinking == "I se");
  CHECK(splitter.is_thinking());
  CHECK(splitter.push("e </").thinking == "e ");
  CHECK(splitter.push("thinking").thinking == "</thinking");
  CHECK(splitter.push("</think>\n").thinking.empty());
  CHECK_FALSE(splitter.is_thinking());
  CHECK(splitter.push("\nA").answer == "A");
  CHECK(splitter.push("\n").answer == "\n");
}

}  // namespace lazymoe::text
