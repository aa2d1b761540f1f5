#pragma once

#include <cstddef>
#include <string>

#include <lazymoe/gguf/writer.hpp>

#include "support/tiny_moe.hpp"
#include "support/toy_tokenizer.hpp"

namespace lazymoe::test {

inline const std::string bundled_model = LAZYMOE_MODELS_DIR "/tiny-factbook-q4_k_m.gguf";

/// A model with a vocabulary and a chat template, to talk nonsense with.
[[nodiscard]] inline gguf::Writer chat_model(TinyMoe model = {.n_vocab = 300, .n_ctx = 65536}) {
  ToyTokenizer toy;
  for (const auto* control : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) toy.token(control, 3);
  while (toy.tokens.size() < model.n_vocab) toy.token("word" + std::to_string(toy.tokens.size()));
  gguf::Writer writer = model.writer();
  for (const auto& [key, value] : toy.metadata()) writer.set(key, value);
  writer.set(
      "tokenizer.chat_template",
      "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
      "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}");
  return writer;
}

/// The number that `inspect` prints behind `what`.
[[nodiscard]] inline std::uint64_t inspected(const std::string& output, const std::string& what) {
  const std::size_t at = output.find("  " + what + " ");
  return at == std::string::npos ? 0 : std::stoull(output.substr(at + 2 + what.size()));
}

}  // namespace lazymoe::test
