#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../chat_message.hpp"
#include "../detail/chat_rules.hpp"
#include "../detail/json_text.hpp"
#include "../detail/prompt_writer.hpp"
#include "../segment.hpp"

namespace lazymoe::text {

/// DeepSeek-V3.1: system texts first, think blocks in the prompt only.
/// @source DeepSeek-V3.1's chat template
struct DeepSeekV31Chat {
  static constexpr std::string_view name = "deepseek-v3.1";

  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    return has(user) && has(assistant) && has("<think></think>") && has("is_last_user");
  }

  /// The template writes calls and their results, but describes no tools.
  /// @throws Error{bad_argument} for unknown roles, descriptions of tools and what is no JSON
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    detail::check_roles(name, messages);
    if (!options.tools.empty()) detail::refuse_chat(name, "it has no place for descriptions of tools");
    detail::PromptWriter prompt;
    prompt.own("<\uFF5Cbegin\u2581of\u2581sentence\uFF5C>");
    for (std::string_view gap; const ChatMessage& message : messages) {
      if (message.role == "system") prompt.own(std::exchange(gap, "\n\n")).said(message.content);
    }
    bool is_after_user = false;
    bool is_after_tool = false;
    for (const ChatMessage& message : messages) {
      if (message.role == "user") {
        prompt.own(user).said(message.content);
        is_after_user = true;
        is_after_tool = false;
      } else if (message.role == "tool") {
        prompt.own("<\uFF5Ctool\u2581output\u2581begin\uFF5C>").said(message.content);
        prompt.own("<\uFF5Ctool\u2581output\u2581end\uFF5C>");
        is_after_user = false;
        is_after_tool = true;
      } else if (message.role == "assistant") {
        if (is_after_user) prompt.own(assistant).own("<think></think>");
        write_answer(prompt, message, is_after_tool);
        is_after_user = is_after_tool = false;
      }
    }
    if (add_generation_prompt && is_after_user) {
      prompt.own(assistant).own(options.thinking.value_or(false) ? "<think>" : "<think></think>");
    }
    return prompt.take();
  }

 private:
  static constexpr std::string_view user = "<\uFF5CUser\uFF5C>";
  static constexpr std::string_view assistant = "<\uFF5CAssistant\uFF5C>";

  static void write_answer(detail::PromptWriter& prompt, const ChatMessage& message, bool is_after_tool) {
    std::string_view content = message.content;
    if (message.tool_calls.empty()) {
      constexpr std::string_view end = "</think>";
      const std::size_t thought = is_after_tool ? std::string_view::npos : content.find(end);
      if (thought != std::string_view::npos) content.remove_prefix(thought + end.size());
      prompt.said(content);
    } else {
      prompt.said(content).own("<\uFF5Ctool\u2581calls\u2581begin\uFF5C>");
      for (const ToolCall& call : message.tool_calls) {
        prompt.own("<\uFF5Ctool\u2581call\u2581begin\uFF5C>").said(call.name).own("<\uFF5Ctool\u2581sep\uFF5C>");
        prompt.said(detail::JsonText(call.arguments).value()).own("<\uFF5Ctool\u2581call\u2581end\uFF5C>");
      }
      prompt.own("<\uFF5Ctool\u2581calls\u2581end\uFF5C>");
    }
    prompt.own("<\uFF5Cend\u2581of\u2581sentence\uFF5C>");
  }
};

}  // namespace lazymoe::text
