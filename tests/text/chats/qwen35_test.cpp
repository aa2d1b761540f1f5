#include <lazymoe/text/chats/qwen35.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

TEST_CASE("Qwen3.5 begins to think in the prompt", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"user", " U\n"}};
  const std::string turn = "<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n";
  CHECK(joined(Qwen35Chat<false>::render(messages, true)) == turn + "<think>\n");
  CHECK(joined(Qwen35Chat<true>::render(messages, true, {.thinking = false, .tools = {}})) ==
        turn + "<think>\n\n</think>\n\n");
}

TEST_CASE("Qwen3.6 writes scalars as JSON, Qwen3.5 as Python", "[text][chat]") {
  const std::vector<ChatMessage> messages{
      {"user", "U"}, {"assistant", "", "", {{"f", R"({"yes":true,"none":null,"text":"true","list":[true]})"}}}};
  const auto call = [](const std::string& yes, const std::string& none) {
    return "<tool_call>\n<function=f>\n<parameter=yes>\n" + yes + "\n</parameter>\n<parameter=none>\n" + none +
           "\n</parameter>\n<parameter=text>\ntrue\n</parameter>\n<parameter=list>\n[true]\n</parameter>\n"
           "</function>\n</tool_call><|im_end|>\n";
  };
  CHECK(joined(Qwen35Chat<true>::render(messages, false)).ends_with(call("true", "null")));
  CHECK(joined(Qwen35Chat<false>::render(messages, false)).ends_with(call("True", "None")));
}

TEST_CASE("Qwen3.5 wants a user and at most one system message, first", "[text][chat]") {
  for (const auto& messages : {std::vector<ChatMessage>{}, std::vector<ChatMessage>{{"system", "S"}},
                               std::vector<ChatMessage>{{"user", "U"}, {"system", "S"}}}) {
    CHECK(test::error_of([&] { (void)Qwen35Chat<false>::render(messages, true); }).code() == Errc::bad_argument);
  }
}

}  // namespace lazymoe::text
