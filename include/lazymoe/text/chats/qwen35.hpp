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

/// Qwen3.5 and Qwen3.6: Qwen3 with trimmed contents, functions called in tags and thinking begun by the prompt.
/// @source Qwen3.5's chat template, of February 2026
template <bool WritesScalarsAsJson>
struct Qwen35Chat {
  static constexpr std::string_view name = WritesScalarsAsJson ? "qwen3.6" : "qwen3.5";

  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    return has("<|im_start|>") && has("<tool_response>") && has("<function=") && has("last_query_index") &&
           has("preserve_thinking") == WritesScalarsAsJson;
  }

  /// @throws Error{bad_argument} for unknown roles, a system message that is not the first, a conversation without a
  ///         user, and what is no JSON
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    detail::check_roles(name, messages);
    const std::size_t query = detail::last_query(messages, true);
    if (query == messages.size()) detail::refuse_chat(name, "no message is a user's");
    detail::PromptWriter prompt;
    const bool has_system = messages.front().role == "system";
    write_system(prompt, has_system ? detail::strip(messages.front().content) : std::string_view(), has_system,
                 options.tools);
    for (std::size_t i = has_system ? 1 : 0; i < messages.size(); ++i) {
      const ChatMessage& message = messages[i];
      const std::string_view content = detail::strip(message.content);
      if (message.role == "system") detail::refuse_chat(name, "a system message must be the first");
      if (message.role == "user") {
        prompt.own("<|im_start|>user\n").said(content).own("<|im_end|>\n");
      } else if (message.role == "assistant") {
        write_answer(prompt, message, i > query);
      } else {
        if (i != 0 && !detail::is_tool_at(messages, i - 1)) prompt.own("<|im_start|>user");
        prompt.own("\n<tool_response>\n").said(content).own("\n</tool_response>");
        if (!detail::is_tool_at(messages, i + 1)) prompt.own("<|im_end|>\n");
      }
    }
    if (add_generation_prompt) {
      prompt.own("<|im_start|>assistant\n");
      prompt.own(options.thinking.value_or(true) ? "<think>\n" : "<think>\n\n</think>\n\n");
    }
    return prompt.take();
  }

 private:
  static void write_system(detail::PromptWriter& prompt, std::string_view system, bool has_system,
                           std::span<const std::string> tools) {
    if (tools.empty()) {
      if (has_system) prompt.own("<|im_start|>system\n").said(system).own("<|im_end|>\n");
      return;
    }
    prompt.own("<|im_start|>system\n# Tools\n\nYou have access to the following functions:\n\n<tools>");
    for (const std::string& tool : tools) prompt.own("\n").said(detail::JsonText(tool).value());
    prompt.own(
        "\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n"
        "<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n"
        "<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n"
        "</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n- Function calls MUST follow the specified "
        "format: an inner <function=...></function> block must be nested within <tool_call></tool_call> XML tags\n"
        "- Required parameters MUST be specified\n- You may provide optional reasoning for your function call in "
        "natural language BEFORE the function call, but NOT after\n- If there is no function call available, answer "
        "the question like normal with your current knowledge and do not tell the user about function calls\n"
        "</IMPORTANT>");
    if (!system.empty()) prompt.own("\n\n").said(system);
    prompt.own("<|im_end|>\n");
  }

  static void write_answer(detail::PromptWriter& prompt, const ChatMessage& message, bool is_after_query) {
    const auto [reasoning, content] = detail::split_thought(message, detail::strip(message.content));
    prompt.own("<|im_start|>assistant\n");
    if (is_after_query) prompt.own("<think>\n").said(detail::strip(reasoning)).own("\n</think>\n\n");
    prompt.said(content);
    std::string_view gap = detail::strip(content).empty() ? "" : "\n\n";
    for (const ToolCall& call : message.tool_calls) {
      prompt.own(gap).own("<tool_call>\n<function=").said(call.name).own(">\n");
      detail::JsonText(call.arguments).for_each_member([&](std::string_view key, std::string_view value, bool is_text) {
        prompt.own("<parameter=").said(key).own(">\n").said(is_text ? value : written(value)).own("\n</parameter>\n");
      });
      prompt.own("</function>\n</tool_call>");
      gap = "\n";
    }
    prompt.own("<|im_end|>\n");
  }

  /// Qwen3.5's template writes what is neither text, list nor object as Python does.
  [[nodiscard]] static std::string_view written(std::string_view json) {
    if (WritesScalarsAsJson) return json;
    return json == "true" ? "True" : json == "false" ? "False" : json == "null" ? "None" : json;
  }
};

}  // namespace lazymoe::text
