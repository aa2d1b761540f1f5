#include <lazymoe/text/chat_message.hpp>

#include "support/catch.hpp"

namespace lazymoe::text {

TEST_CASE("a message needs no more than a role and a content", "[text][chat]") {
  const ChatMessage message{"user", "hi"};
  CHECK(message.reasoning.empty());
  CHECK(message.tool_calls.empty());
  CHECK_FALSE(ChatOptions{}.thinking.has_value());
}

}  // namespace lazymoe::text
