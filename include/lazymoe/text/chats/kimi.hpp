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

/// The way of Moonshot's models: Kimi-K2 and, without its tools, Moonlight.
/// @source Kimi-K2-Instruct's chat template
template <bool IsMoonlight>
struct KimiChat {
  static constexpr std::string_view name = IsMoonlight ? "moonlight" : "kimi-k2";

  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    return has("<|im_middle|>") && has("<|im_assistant|>") && has("tool_calls_section_begin") != IsMoonlight;
  }

  /// @throws Error{bad_argument} for unknown roles and what is no JSON, for Moonlight also for tools
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    if constexpr (IsMoonlight) {
      detail::check_roles_without_tools(name, messages, options);
    } else {
      detail::check_roles(name, messages);
    }
    detail::PromptWriter prompt;
    if (!options.tools.empty()) {
      prompt.own("<|im_system|>tool_declare<|im_middle|>[");
      for (std::string_view comma; const std::string& tool : options.tools) {
        prompt.own(std::exchange(comma, ", ")).said(detail::JsonText(tool).value());
      }
      prompt.own("]<|im_end|>");
    }
    if (!messages.empty() && messages.front().role != "system") {
      prompt.own("<|im_system|>system<|im_middle|>").own(default_system);
      prompt.own(IsMoonlight ? "<|im_end|>" : "<|im_end|>\n");  // as the template has it
    }
    std::vector<std::string> ids;  // of calls without a result so far, in order; names are the model's words
    std::size_t n_calls = 0;
    std::size_t n_results = 0;
    for (const ChatMessage& message : messages) {
      prompt.own(message.role == "user"        ? "<|im_user|>"
                 : message.role == "assistant" ? "<|im_assistant|>"
                                               : "<|im_system|>");
      prompt.own(message.role).own("<|im_middle|>");
      if (message.role == "tool") {
        prompt.own("## Return of ");
        if (n_results < ids.size()) {
          prompt.said(ids[n_results++]);
        } else {
          prompt.own("functions.unknown:").own(std::to_string(n_calls));
        }
        prompt.own("\n");
      }
      prompt.said(message.content);
      if (message.role == "assistant" && !message.tool_calls.empty()) {
        prompt.own("<|tool_calls_section_begin|>");
        for (const ToolCall& call : message.tool_calls) {
          ids.push_back("functions." + call.name + ":" + std::to_string(n_calls++));
          prompt.own("<|tool_call_begin|>").said(ids.back()).own("<|tool_call_argument_begin|>");
          prompt.said(detail::JsonText(call.arguments).value()).own("<|tool_call_end|>");
        }
        prompt.own("<|tool_calls_section_end|>");
      }
      prompt.own("<|im_end|>");
    }
    if (add_generation_prompt) prompt.own("<|im_assistant|>assistant<|im_middle|>");
    return prompt.take();
  }

 private:
  static constexpr std::string_view default_system = IsMoonlight
                                                         ? "You are a helpful assistant provided by Moonshot-AI."
                                                         : "You are Kimi, an AI assistant created by Moonshot AI.";
};

}  // namespace lazymoe::text
