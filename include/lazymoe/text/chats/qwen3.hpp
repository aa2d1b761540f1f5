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
#include "../detail/strip.hpp"
#include "../segment.hpp"

namespace lazymoe::text {

/// Qwen3: ChatML with tools, and with the thinking of the answer under way.
///
/// Thinking is what the model does by itself; told not to, it finds an empty think block in its answer.
/// @source Qwen3's chat template, of April 2025
struct Qwen3Chat {
  static constexpr std::string_view name = "qwen3";

  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    return has("<|im_start|>") && has("<tool_response>") && has("last_query_index") && has("enable_thinking") &&
           !has("<function=");
  }

  /// @throws Error{bad_argument} for unknown roles and what is no JSON
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    detail::check_roles(name, messages);
    detail::PromptWriter prompt;
    const bool has_system = !messages.empty() && messages.front().role == "system";
    if (!options.tools.empty()) {
      prompt.own("<|im_start|>system\n");
      if (has_system) prompt.said(messages.front().content).own("\n\n");
      prompt.own(
          "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with "
          "function signatures within <tools></tools> XML tags:\n<tools>");
      for (const std::string& tool : options.tools) prompt.own("\n").said(detail::JsonText(tool).value());
      prompt.own(
          "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
          "<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": "
          "<args-json-object>}\n</tool_call><|im_end|>\n");
    } else if (has_system) {
      prompt.own("<|im_start|>system\n").said(messages.front().content).own("<|im_end|>\n");
    }
    const std::size_t query = detail::last_query(messages, false);
    for (std::size_t i = has_system ? 1 : 0; i < messages.size(); ++i) {
      const ChatMessage& message = messages[i];
      if (message.role == "assistant") {
        write_answer(prompt, message, i > query, i + 1 == messages.size());
      } else if (message.role == "tool") {
        if (i == 0 || !detail::is_tool_at(messages, i - 1)) prompt.own("<|im_start|>user");
        prompt.own("\n<tool_response>\n").said(message.content).own("\n</tool_response>");
        if (!detail::is_tool_at(messages, i + 1)) prompt.own("<|im_end|>\n");
      } else {
        prompt.own("<|im_start|>").own(message.role).own("\n").said(message.content).own("<|im_end|>\n");
      }
    }
    if (add_generation_prompt) {
      prompt.own("<|im_start|>assistant\n");
      if (!options.thinking.value_or(true)) prompt.own("<think>\n\n</think>\n\n");
    }
    return prompt.take();
  }

 private:
  static void write_answer(detail::PromptWriter& prompt, const ChatMessage& message, bool is_after_query,
                           bool is_last) {
    const auto [reasoning, content] = detail::split_thought(message, message.content);
    prompt.own("<|im_start|>assistant\n");
    if (is_after_query && (is_last || !reasoning.empty())) {
      prompt.own("<think>\n").said(detail::strip_newlines(reasoning)).own("\n</think>\n\n");
      prompt.said(detail::strip_newlines_left(content));
    } else {
      prompt.said(content);
    }
    for (bool first = content.empty(); const ToolCall& call : message.tool_calls) {
      if (!std::exchange(first, false)) prompt.own("\n");
      prompt.own("<tool_call>\n{\"name\": \"").said(call.name).own("\", \"arguments\": ");
      prompt.said(detail::JsonText(call.arguments).value()).own("}\n</tool_call>");
    }
    prompt.own("<|im_end|>\n");
  }
};

}  // namespace lazymoe::text
