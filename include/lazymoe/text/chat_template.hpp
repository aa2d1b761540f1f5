#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/error.hpp"
#include "../gguf/metadata.hpp"
#include "segment.hpp"

namespace lazymoe::text {

/// One turn of a conversation.
struct ChatMessage {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;
};

/// A way to write a conversation as one prompt.
///
///   recognises(jinja)   the template text of a model file asks for this way
///   render(...)         the prompt; with `add_generation_prompt` it ends where the assistant begins to speak
/// Laws:
///   1. the contents of messages are segments with is_template == false, everything else is template
///   2. a role other than the three is an Error{bad_argument}
template <class T>
concept ChatTemplate = requires(std::string_view jinja, std::span<const ChatMessage> messages, bool generate) {
  { T::name } -> std::convertible_to<std::string_view>;
  { T::recognises(jinja) } -> std::same_as<bool>;
  { T::render(messages, generate) } -> std::same_as<std::vector<Segment>>;
};

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

  [[nodiscard]] static std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt) {
    std::vector<Segment> prompt;
    std::string written;  // by the template since the last content
    for (const ChatMessage& message : messages) {
      if (message.role != "system" && message.role != "user" && message.role != "assistant") {
        throw Error(Errc::bad_argument, "chat message: role '" + message.role + "' is not system, user or assistant");
      }
      prompt.push_back({written.append("<|im_start|>").append(message.role).append("\n"), true});
      prompt.push_back({message.content, false});
      written = "<|im_end|>\n";
    }
    if (add_generation_prompt) written += "<|im_start|>assistant\n";
    if (!written.empty()) prompt.push_back({written, true});
    return prompt;
  }
};
static_assert(ChatTemplate<ChatML>);

/// A chat template as a value, to choose while running.
class ChatFormat {
 public:
  template <ChatTemplate Template>
  [[nodiscard]] static constexpr ChatFormat of() noexcept {
    return {Template::name, &Template::recognises, &Template::render};
  }

  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
  [[nodiscard]] bool recognises(std::string_view jinja) const { return recogniser_(jinja); }
  [[nodiscard]] std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt) const {
    return renderer_(messages, add_generation_prompt);
  }

 private:
  using Recognises = bool (*)(std::string_view);
  using Render = std::vector<Segment> (*)(std::span<const ChatMessage>, bool);

  constexpr ChatFormat(std::string_view name, Recognises recogniser, Render renderer) noexcept
      : name_(name), recogniser_(recogniser), renderer_(renderer) {}

  std::string_view name_;
  Recognises recogniser_;
  Render renderer_;
};

/// Every template this library can render; the first that recognises a text is taken.
inline constexpr std::array chat_formats{ChatFormat::of<ChatML>()};

namespace detail {

[[noreturn]] inline void throw_unsupported_template(const std::string& reason) {
  std::string known;
  for (const ChatFormat& format : chat_formats) known.append(known.empty() ? "" : ", ").append(format.name());
  throw Error(Errc::unsupported_template,
              reason + "; known are: " + known + " (in programs: --chat-template NAME chooses one)");
}

}  // namespace detail

/// @throws Error{unsupported_template} for an unknown name; the message lists the known ones
[[nodiscard]] inline ChatFormat chat_template_by_name(std::string_view name) {
  for (const ChatFormat& format : chat_formats) {
    if (format.name() == name) return format;
  }
  detail::throw_unsupported_template("chat template '" + std::string(name) + "' is unknown");
}

/// The template that a model file asks for in tokenizer.chat_template.
/// @throws Error{unsupported_template} when there is none or none that is known; the message says how to name one
[[nodiscard]] inline ChatFormat recognise_chat_template(const gguf::Metadata& metadata) {
  const auto jinja = metadata.find<std::string_view>("tokenizer.chat_template");
  if (!jinja) detail::throw_unsupported_template(metadata.file() + ": the model carries no tokenizer.chat_template");
  for (const ChatFormat& format : chat_formats) {
    if (format.recognises(*jinja)) return format;
  }
  detail::throw_unsupported_template(metadata.file() + ": tokenizer.chat_template is none that this library renders");
}

}  // namespace lazymoe::text
