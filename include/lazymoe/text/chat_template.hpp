#pragma once

#include <array>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/error.hpp"
#include "../gguf/metadata.hpp"
#include "chat_message.hpp"
#include "chats/chatml.hpp"
#include "chats/deepseek.hpp"
#include "chats/glm4.hpp"
#include "chats/kimi.hpp"
#include "chats/mistral.hpp"
#include "chats/olmo.hpp"
#include "chats/qwen3.hpp"
#include "chats/qwen35.hpp"
#include "segment.hpp"

namespace lazymoe::text {

/// A way to write a conversation as one prompt.
///
///   recognises(jinja)   the template text of a model file asks for this way
///   render(...)         the prompt; with `add_generation_prompt` it ends where the assistant begins to speak
/// Laws:
///   1. what messages and options say, be it content, reasoning, the name of a function or JSON, is segments with
///      is_template == false; everything else is template
///   2. a role other than the four is an Error{bad_argument}, and so is what the format has no words for
template <class T>
concept ChatTemplate = requires(std::string_view jinja, std::span<const ChatMessage> messages, bool generate,
                                const ChatOptions& options) {
  { T::name } -> std::convertible_to<std::string_view>;
  { T::recognises(jinja) } -> std::same_as<bool>;
  { T::render(messages, generate, options) } -> std::same_as<std::vector<Segment>>;
};

/// A chat template as a value, to choose while running.
class ChatFormat {
 public:
  template <ChatTemplate Template>
  [[nodiscard]] static constexpr ChatFormat of() noexcept {
    return {Template::name, &Template::recognises, &Template::render};
  }

  [[nodiscard]] constexpr std::string_view name() const noexcept { return name_; }
  [[nodiscard]] bool recognises(std::string_view jinja) const { return recogniser_(jinja); }
  [[nodiscard]] std::vector<Segment> render(std::span<const ChatMessage> messages, bool add_generation_prompt,
                                            const ChatOptions& options = {}) const {
    return renderer_(messages, add_generation_prompt, options);
  }

 private:
  using Recognises = bool (*)(std::string_view);
  using Render = std::vector<Segment> (*)(std::span<const ChatMessage>, bool, const ChatOptions&);

  constexpr ChatFormat(std::string_view name, Recognises recogniser, Render renderer) noexcept
      : name_(name), recogniser_(recogniser), renderer_(renderer) {}

  std::string_view name_;
  Recognises recogniser_;
  Render renderer_;
};

/// Every template this library can render; the first that recognises a text is taken.
inline constexpr std::array chat_formats{ChatFormat::of<Qwen35Chat<true>>(),  ChatFormat::of<Qwen35Chat<false>>(),
                                         ChatFormat::of<Qwen3Chat>(),         ChatFormat::of<ChatML>(),
                                         ChatFormat::of<Glm4Chat>(),          ChatFormat::of<KimiChat<true>>(),
                                         ChatFormat::of<KimiChat<false>>(),   ChatFormat::of<OlmoChat>(),
                                         ChatFormat::of<DeepSeekV31Chat>(),   ChatFormat::of<MistralChat<true>>(),
                                         ChatFormat::of<MistralChat<false>>()};

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
