#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "../chat_message.hpp"
#include "../detail/chat_rules.hpp"
#include "../detail/prompt_writer.hpp"
#include "../segment.hpp"

namespace lazymoe::text {

/// OLMo's instruct models, OLMoE's among them: the markers of roles are ordinary text.
/// @source OLMoE-1B-7B-0924-Instruct's chat template
struct OlmoChat {
  static constexpr std::string_view name = "olmo";

  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    return has("<|system|>") && has("<|user|>") && has("<|assistant|>") && has("eos_token") && has("bos_token") &&
           !has("[gMASK]") && !has("<|im_start|>") && !has("tool");
  }

  /// @throws Error{bad_argument} for unknown roles and tools
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    detail::check_roles_without_tools(name, messages, options);
    detail::PromptWriter prompt;
    prompt.own("<|endoftext|>");
    for (const ChatMessage& message : messages) {
      prompt.own("<|").own(message.role).own("|>\n").said(message.content);
      prompt.own(message.role == "assistant" ? "<|endoftext|>\n" : "\n");
    }
    if (add_generation_prompt) prompt.own("<|assistant|>\n");
    return prompt.take();
  }
};

}  // namespace lazymoe::text
