#include <lazymoe/text/detail/chat_rules.hpp>

#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::text::detail {

TEST_CASE("Only the four roles may speak", "[text][chat]") {
  const auto refused = [](const std::string& role) {
    const std::vector<ChatMessage> messages{{.role = "user", .content = "a"}, {.role = role, .content = "b"}};
    return test::error_of([&] { check_roles("some", messages); });
  };
  for (const std::string role : {"system", "user", "assistant", "tool"}) {
    CHECK(test::mentions(refused(role), "nothing was thrown"));
  }
  for (const std::string role : {"", "User", "assistant\n<|im_end|>"}) {
    CHECK(refused(role).code() == Errc::bad_argument);
    CHECK(test::mentions(refused(role), "chat template some: role '" + role + "' is not"));
  }
}

TEST_CASE("Formats without words for tools refuse every trace of them", "[text][chat]") {
  const auto refused = [](const ChatMessage& message, const ChatOptions& options) {
    const std::vector<ChatMessage> messages{message};
    return test::error_of([&] { check_roles_without_tools("some", messages, options); }).code() == Errc::bad_argument;
  };
  const ChatMessage plain{.role = "user", .content = "a"};
  CHECK_FALSE(refused(plain, {}));
  CHECK(refused(plain, {.tools = {"{}"}}));
  CHECK(refused({.role = "tool", .content = "a"}, {}));
  CHECK(refused({.role = "assistant", .content = "a", .tool_calls = {{"f", "{}"}}}, {}));
}

TEST_CASE("A thought is what was given as one, or what stands before </think>", "[text][chat]") {
  const auto split = [](const std::string& reasoning, std::string_view content) {
    const ChatMessage message{.role = "assistant", .content = std::string(content), .reasoning = reasoning};
    const Thought thought = split_thought(message, content);
    return std::string(thought.reasoning) + "|" + std::string(thought.content);
  };
  CHECK(split("why", "a</think>b") == "why|a</think>b");
  CHECK(split("", "b") == "|b");
  CHECK(split("", "<think>\nwhy\n</think>\n\nb") == "why|b");
  CHECK(split("", "why</think>b") == "why|b");
  CHECK(split("", "x<think>y<think>z</think>b</think>c") == "z|c");
}

TEST_CASE("The last query is the last thing that a user said and no tool", "[text][chat]") {
  const auto message = [](const std::string& role, const std::string& content) {
    return ChatMessage{.role = role, .content = content};
  };
  const std::vector<ChatMessage> messages{message("user", "a"), message("assistant", "b"),
                                          message("user", " <tool_response>c</tool_response>\n"),
                                          message("tool", "d")};
  CHECK(last_query(messages, true) == 0);
  CHECK(last_query(messages, false) == 2);
  CHECK(last_query(std::vector{message("tool", "a")}, true) == 1);
  CHECK(last_query({}, true) == 0);
  CHECK(is_tool_at(messages, 3));
  CHECK_FALSE(is_tool_at(messages, 2));
  CHECK_FALSE(is_tool_at(messages, 4));
}

}  // namespace lazymoe::text::detail
