#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../chat_message.hpp"
#include "../detail/chat_rules.hpp"
#include "../detail/prompt_writer.hpp"
#include "../segment.hpp"

namespace lazymoe::text {

/// The first Mistral and Mixtral instruct models: questions in [INST], a system text before the first of them.
/// @source Mixtral-8x7B-Instruct-v0.1's chat template
template <bool HasSpaces>
struct MistralChat {
  static constexpr std::string_view name = HasSpaces ? "mistral" : "mistral-tight";

  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    return has("[/INST]") && has("[INST] ") && !has("[AVAILABLE_TOOLS]") && !has("<<SYS>>") &&
           (has("' [INST] '") || has("\" [INST] \"")) == HasSpaces;
  }

  /// @throws Error{bad_argument} for tools, unknown roles and a system message that is not the first
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    (void)add_generation_prompt;  // [/INST] is where the assistant begins to speak
    detail::check_roles_without_tools(name, messages, options);
    constexpr std::string_view gap = HasSpaces ? " " : "";
    detail::PromptWriter prompt;
    prompt.own("<s>");
    std::string_view system;
    for (const ChatMessage& message : messages) {
      if (message.role == "system") {
        if (&message != messages.data()) detail::refuse_chat(name, "a system message must be the first");
        system = message.content;
      } else if (message.role == "user") {
        prompt.own(gap).own("[INST] ");
        if (!system.empty()) prompt.said(std::exchange(system, {})).own("\n\n");
        prompt.said(message.content).own(" [/INST]");
      } else {
        prompt.own(gap).said(message.content).own("</s>");
      }
    }
    return prompt.take();
  }
};

}  // namespace lazymoe::text
