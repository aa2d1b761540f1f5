#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "../chat_message.hpp"
#include "../detail/chat_rules.hpp"
#include "../detail/prompt_writer.hpp"
#include "../segment.hpp"

namespace lazymoe::text {

/// `<|im_start|>ROLE, newline, CONTENT<|im_end|>, newline` for every turn.
/// @source OpenAI, chatml.md; the bundled model's own template
struct ChatML {
  static constexpr std::string_view name = "chatml";

  /// True for templates that render plain conversations just so. Qwen3's is one: its tools, and the thinking of past
  /// turns, which it strips, are beyond this class, and with thinking on it adds nothing to the generation prompt.
  /// (A conversation that ends with the assistant is the exception: Qwen3 gives that turn an empty think block.)
  /// False for relatives that add a default system prompt, begin with BOS, trim contents or open a think block.
  [[nodiscard]] static bool recognises(std::string_view jinja) {
    const auto has = [jinja](std::string_view text) { return jinja.find(text) != std::string_view::npos; };
    for (const std::string_view text : {"<|im_start|>", "<|im_end|>", "add_generation_prompt", "content"}) {
      if (!has(text)) return false;
    }
    for (const std::string_view text : {"bos_token", "<|im_sep|>", "|trim", "| trim", ".strip()", "<think>\\n' }}"}) {
      if (has(text)) return false;
    }
    // Behind a role that is written out, the literal ends or an expression begins: else a default text follows.
    for (const std::string_view opening :
         {"<|im_start|>system\\n", "<|im_start|>system\n", "<|im_start|>assistant\\n", "<|im_start|>assistant\n"}) {
      for (auto i = jinja.find(opening); i != std::string_view::npos; i = jinja.find(opening, i + 1)) {
        const std::string_view rest = jinja.substr(i + opening.size(), 1);
        if (!rest.empty() && rest != "'" && rest != "\"" && rest != "{") return false;
      }
    }
    return true;
  }

  /// @throws Error{bad_argument} for unknown roles and tools
  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                                   const ChatOptions& options = {}) {
    detail::check_roles_without_tools(name, messages, options);
    detail::PromptWriter prompt;
    for (const ChatMessage& message : messages) {
      prompt.own("<|im_start|>").own(message.role).own("\n").said(message.content).own("<|im_end|>\n");
    }
    if (add_generation_prompt) prompt.own("<|im_start|>assistant\n");
    return prompt.take();
  }
};

}  // namespace lazymoe::text
