#include <lazymoe/text/chats/qwen3.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

TEST_CASE("Qwen3 thinks unless it is told not to", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"user", "U"}};
  const std::string turn = "<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n";
  CHECK(joined(Qwen3Chat::render(messages, true)) == turn);
  CHECK(joined(Qwen3Chat::render(messages, true, {.thinking = true, .tools = {}})) == turn);
  CHECK(joined(Qwen3Chat::render(messages, true, {.thinking = false, .tools = {}})) ==
        turn + "<think>\n\n</think>\n\n");
}

TEST_CASE("Qwen3 keeps the thoughts of the answer under way only", "[text][chat]") {
  const std::vector<ChatMessage> messages{
      {"user", "U1"}, {"assistant", "A1", "R1"}, {"user", "U2"}, {"assistant", "A2", "R2", {{"f", R"({"a":1})"}}}};
  CHECK(
      joined(Qwen3Chat::render(messages, false)) ==
      "<|im_start|>user\nU1<|im_end|>\n<|im_start|>assistant\nA1<|im_end|>\n<|im_start|>user\nU2<|im_end|>\n"
      "<|im_start|>assistant\n<think>\nR2\n</think>\n\nA2\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n"
      "</tool_call><|im_end|>\n");
}

TEST_CASE("arguments of a call must be JSON", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"user", "U"}, {"assistant", "", "", {{"f", "{]"}}}};
  CHECK(test::error_of([&] { (void)Qwen3Chat::render(messages, true); }).code() == Errc::bad_argument);
}

}  // namespace lazymoe::text
