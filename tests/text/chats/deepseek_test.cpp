#include <lazymoe/text/chats/deepseek.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text {

TEST_CASE("DeepSeek-V3.1 thinks only if it is told to", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"user", "U"}};
  const std::string turn = "<\uFF5Cbegin\u2581of\u2581sentence\uFF5C><\uFF5CUser\uFF5C>U<\uFF5CAssistant\uFF5C>";
  CHECK(joined(DeepSeekV31Chat::render(messages, true)) == turn + "<think></think>");
  CHECK(joined(DeepSeekV31Chat::render(messages, true, {.thinking = true, .tools = {}})) == turn + "<think>");
}

TEST_CASE("DeepSeek-V3.1 has no place for descriptions of tools", "[text][chat]") {
  const std::vector<ChatMessage> messages{{"user", "U"}};
  ChatOptions options;
  options.tools = {"{}"};
  CHECK(test::error_of([&] { (void)DeepSeekV31Chat::render(messages, true, options); }).code() == Errc::bad_argument);
}

}  // namespace lazymoe::text
