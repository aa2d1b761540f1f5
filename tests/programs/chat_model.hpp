#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <lazymoe/gguf/file.hpp>
#include <lazymoe/gguf/writer.hpp>

#include "support/temp_dir.hpp"
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

/// A chat model that says "word259" to "word299" and never ends.
[[nodiscard]] inline std::vector<std::byte> endless_model(const TempDir& scratch) {
  const TinyMoe model{.n_vocab = 300, .n_ctx = 65536};
  auto bytes = chat_model(model).bytes();
  const gguf::File file(scratch.write("ending.gguf", bytes));
  // The output's rows of all other tokens become zero, and those of words so large that nothing beats the largest.
  const auto offset = static_cast<std::size_t>(file.find("output.weight")->offset);
  std::vector<float> rows(model.n_vocab * model.n_embd);
  const std::size_t n_zero = 259 * model.n_embd;
  std::memcpy(rows.data(), bytes.data() + offset, rows.size() * sizeof(float));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] *= i < n_zero ? 0.0F : 16.0F;
  std::memcpy(bytes.data() + offset, rows.data(), rows.size() * sizeof(float));
  return bytes;
}

/// The number that `inspect` prints behind `what`.
[[nodiscard]] inline std::uint64_t inspected(const std::string& output, const std::string& what) {
  const std::size_t at = output.find("  " + what + " ");
  return at == std::string::npos ? 0 : std::stoull(output.substr(at + 2 + what.size()));
}

}  // namespace lazymoe::test
