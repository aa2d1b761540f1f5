#pragma once

#include <cstddef>
#include <cstdint>
#include <lazymoe/gguf/metadata.hpp>
#include <lazymoe/text/byte_alphabet.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lazymoe::test {

/// A byte-level tokenizer to spoil: id = byte for the first 256 tokens, then what merges give, then special tokens.
struct ToyTokenizer {
  std::string model = "gpt2";
  std::string pre = "qwen2";
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<std::string> merges;
  std::vector<std::pair<std::string, gguf::Value>> more;  ///< further keys

  ToyTokenizer() {
    for (std::size_t byte = 0; byte < 256; ++byte) token(spelled({static_cast<char>(byte)}));
  }

  /// `bytes` in the byte alphabet.
  [[nodiscard]] static std::string spelled(const std::string& bytes) {
    std::string text;
    for (const char c : bytes) {
      const unsigned code_point = text::byte_alphabet[static_cast<unsigned char>(c)];
      if (code_point < 0x80) {
        text += static_cast<char>(code_point);
      } else {
        text += static_cast<char>(0xC0 | code_point >> 6);
        text += static_cast<char>(0x80 | (code_point & 0x3F));
      }
    }
    return text;
  }

  /// The id of the new token. Types: 1 normal, 3 control, 4 user-defined.
  std::int32_t token(std::string text, std::int32_t type = 1) {
    tokens.push_back(std::move(text));
    types.push_back(type);
    return static_cast<std::int32_t>(tokens.size() - 1);
  }

  /// The id of the token that the pair becomes.
  std::int32_t merge(const std::string& left, const std::string& right) {
    merges.push_back(spelled(left) + " " + spelled(right));
    return token(spelled(left + right));
  }

  [[nodiscard]] gguf::Metadata metadata() const {
    gguf::Metadata metadata("toy.gguf");
    metadata.insert("tokenizer.ggml.model", model);
    metadata.insert("tokenizer.ggml.pre", pre);
    metadata.insert("tokenizer.ggml.tokens", tokens);
    metadata.insert("tokenizer.ggml.token_type", types);
    metadata.insert("tokenizer.ggml.merges", merges);
    for (const auto& [key, value] : more) metadata.insert(key, value);
    return metadata;
  }
};

}  // namespace lazymoe::test
