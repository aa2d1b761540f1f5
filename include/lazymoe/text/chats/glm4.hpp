#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../chat_message.hpp"
#include "../detail/chat_rules.hpp"
#include "../detail/json_text.hpp"
#include "../detail/prompt_writer.hpp"
#include "../detail/strip.hpp"
#include "../segment.hpp"

namespace lazymoe::text {

/// GLM-4.5 to GLM-4.7: parts follow each other without line ends, and no token ends an answer but the next speaker's.
/// @source GLM-4.7-Flash's chat template
struct Glm4Chat {
  static constexpr std::string_view name = "glm4";

  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    return jinja.starts_with("[gMASK]<sop>") && has("<|observation|>") && has("<arg_key>") && has("</think>");
  }

  /// @throws Error{bad_argument} for unknown roles and what is no JSON
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    detail::check_roles(name, messages);
    detail::PromptWriter prompt;
    prompt.own("[gMASK]<sop>");
    if (!options.tools.empty()) {
      prompt.own(
          "<|system|>\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are "
          "provided with function signatures within <tools></tools> XML tags:\n<tools>\n");
      for (const std::string& tool : options.tools) prompt.said(detail::JsonText(tool).value()).own("\n");
      prompt.own(
          "</tools>\n\nFor each function call, output the function name and arguments within the following XML "
          "format:\n<tool_call>{function-name}<arg_key>{arg-key-1}</arg_key><arg_value>{arg-value-1}</arg_value>"
          "<arg_key>{arg-key-2}</arg_key><arg_value>{arg-value-2}</arg_value>...</tool_call>");
    }
    std::size_t last_user = messages.size();
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].role == "user") last_user = i;
    }
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const ChatMessage& message = messages[i];
      if (message.role == "assistant") {
        write_answer(prompt, message, last_user == messages.size() || i > last_user);
      } else if (message.role == "tool") {
        if (i == 0 || !detail::is_tool_at(messages, i - 1)) prompt.own("<|observation|>");
        prompt.own("<tool_response>").said(message.content).own("</tool_response>");
      } else {
        prompt.own(message.role == "user" ? "<|user|>" : "<|system|>").said(message.content);
      }
    }
    if (add_generation_prompt) {
      prompt.own("<|assistant|>").own(options.thinking.value_or(true) ? "<think>" : "</think>");
    }
    return prompt.take();
  }

 private:
  static void write_answer(detail::PromptWriter& prompt, const ChatMessage& message, bool is_after_user) {
    const auto [reasoning, content] = detail::split_thought(message, message.content);
    prompt.own("<|assistant|>");
    if (is_after_user && !reasoning.empty()) prompt.own("<think>").said(detail::strip(reasoning));
    prompt.own("</think>").said(detail::strip(content));
    for (const ToolCall& call : message.tool_calls) {
      prompt.own("<tool_call>").said(call.name);
      detail::JsonText(call.arguments).for_each_member([&](std::string_view key, std::string_view value, bool) {
        prompt.own("<arg_key>").said(key).own("</arg_key><arg_value>").said(value).own("</arg_value>");
      });
      prompt.own("</tool_call>");
    }
  }
};

}  // namespace lazymoe::text
