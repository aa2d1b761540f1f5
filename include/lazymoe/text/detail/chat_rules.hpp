#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "../../core/error.hpp"
#include "../chat_message.hpp"
#include "strip.hpp"

namespace lazymoe::text::detail {

[[noreturn]] inline void refuse_chat(std::string_view format, const std::string& reason) {
  throw Error(Errc::bad_argument, "chat template " + std::string(format) + ": " + reason);
}

/// @throws Error{bad_argument} for a role that is none: it must not smuggle in text
inline void check_roles(std::string_view format, std::span<const ChatMessage> messages) {
  for (const ChatMessage& message : messages) {
    if (message.role != "system" && message.role != "user" && message.role != "assistant" && message.role != "tool") {
      refuse_chat(format, "role '" + message.role + "' is not system, user, assistant or tool");
    }
  }
}

/// @throws Error{bad_argument} also for tools, for formats that have no words for them
inline void check_roles_without_tools(std::string_view format, std::span<const ChatMessage> messages,
                                      const ChatOptions& options) {
  check_roles(format, messages);
  const auto uses_tools = [](const ChatMessage& message) {
    return message.role == "tool" || !message.tool_calls.empty();
  };
  if (!options.tools.empty() || std::ranges::any_of(messages, uses_tools)) refuse_chat(format, "it knows no tools");
}

/// A message of the assistant in two parts.
struct Thought {
  std::string_view reasoning;
  std::string_view content;
};

/// The parts as they were given, or cut at </think>.
[[nodiscard]] inline Thought split_thought(const ChatMessage& message, std::string_view content) {
  constexpr std::string_view end = "</think>";
  if (!message.reasoning.empty()) return {message.reasoning, content};
  const std::size_t first = content.find(end);
  if (first == std::string_view::npos) return {{}, content};
  const std::string_view before = strip_newlines_right(content.substr(0, first));
  return {strip_newlines_left(after_last(before, "<think>")), strip_newlines_left(after_last(content, end))};
}

/// The place of the last message that a user really wrote, not a tool's answer in the user's name; the number of
/// messages if there is none. Spaces around the answer are overlooked if `trims`.
[[nodiscard]] inline std::size_t last_query(std::span<const ChatMessage> messages, bool trims) {
  for (std::size_t i = messages.size(); i-- > 0;) {
    const std::string_view content = trims ? strip(messages[i].content) : std::string_view(messages[i].content);
    const bool is_answer = content.starts_with("<tool_response>") && content.ends_with("</tool_response>");
    if (messages[i].role == "user" && !is_answer) return i;
  }
  return messages.size();
}

/// Whether the message beside, at `i`, is a tool's as well.
[[nodiscard]] inline bool is_tool_at(std::span<const ChatMessage> messages, std::size_t i) {
  return i < messages.size() && messages[i].role == "tool";
}

}  // namespace lazymoe::text::detail
