#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/error.hpp"
#include "../../gguf/metadata.hpp"
#include "../bpe.hpp"
#include "../byte_alphabet.hpp"
#include "../end_tokens.hpp"
#include "../split_rules.hpp"
#include "../vocabulary.hpp"

namespace lazymoe::text::detail {

/// How a file's tokens are found in text; the values of tokenizer.ggml.model.
enum class Method : std::uint8_t {
  gpt2,   ///< byte-level BPE
  llama,  ///< SentencePiece
};

[[nodiscard]] inline Method read_method(const gguf::Metadata& metadata) {
  const auto model = metadata.require<std::string_view>("tokenizer.ggml.model");
  if (model == "gpt2") return Method::gpt2;
  if (model == "llama") return Method::llama;
  throw Error(Errc::unsupported_tokenizer, metadata.file() + ": tokenizer.ggml.model is '" + std::string(model) +
                                               "', but only 'gpt2', byte-level BPE, and 'llama', SentencePiece, are "
                                               "supported");
}

/// `text` with a space for every U+2581, which is how SentencePiece writes spaces.
[[nodiscard]] inline std::string with_spaces(std::string_view text) {
  constexpr std::string_view mark = "\u2581";
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const bool is_mark = text.substr(i).starts_with(mark);
    result += is_mark ? ' ' : text[i];
    i += is_mark ? mark.size() : 1;
  }
  return result;
}

/// The byte that a token text such as <0x0A> names.
[[nodiscard]] inline std::optional<char> byte_of_name(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  int byte = 0;
  for (const char c : text.substr(3, 2)) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'A' || c > 'F')) return std::nullopt;
    byte = 16 * byte + (is_digit ? c - '0' : c - 'A' + 10);
  }
  return static_cast<char>(byte);
}

/// The kind a token really has: what a file says of end markers and unused tokens is often wrong.
/// @source llama.cpp, llama-vocab.cpp
[[nodiscard]] inline TokenKind corrected(TokenKind kind, std::string_view text) {
  if (is_end_marker(text)) return TokenKind::control;
  if (kind == TokenKind::control && text.find("unused") != std::string_view::npos) return TokenKind::unused;
  return kind;
}

/// @throws Error{bad_metadata}
[[nodiscard]] inline Vocabulary read_vocabulary(const gguf::Metadata& metadata, Method method) {
  const auto texts = metadata.require_array<std::string_view>("tokenizer.ggml.tokens");
  const auto kinds = metadata.find_array<std::int32_t>("tokenizer.ggml.token_type");
  if (kinds && kinds->size() != texts.size()) {
    throw Error(Errc::bad_metadata, metadata.file() + ": tokenizer.ggml.tokens has " + std::to_string(texts.size()) +
                                        " elements, but tokenizer.ggml.token_type " + std::to_string(kinds->size()));
  }
  Vocabulary vocabulary(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::int32_t stored = kinds ? (*kinds)[i] : static_cast<std::int32_t>(TokenKind::normal);
    if (stored < 0 || stored > static_cast<std::int32_t>(TokenKind::byte)) {
      throw Error(Errc::bad_metadata, metadata.file() + ": tokenizer.ggml.token_type of token " + std::to_string(i) +
                                          " is " + std::to_string(stored) + ", which is no type of token");
    }
    const TokenKind kind = corrected(static_cast<TokenKind>(stored), texts[i]);
    if (kind == TokenKind::byte) {
      const auto byte = byte_of_name(texts[i]);
      vocabulary.add(byte ? std::string_view(&*byte, 1) : texts[i], kind, false);
    } else if (kind != TokenKind::normal && kind != TokenKind::undefined) {
      vocabulary.add(texts[i], kind, false);
    } else if (method == Method::llama) {
      vocabulary.add(with_spaces(texts[i]), kind, true);
    } else {
      // A text outside the alphabet can never come out of merging bytes; it is shown as it is.
      const auto bytes = from_byte_alphabet(texts[i]);
      vocabulary.add(bytes ? std::string_view(*bytes) : texts[i], kind, bytes.has_value());
    }
  }
  return vocabulary;
}

/// The merges of byte-level BPE, listed or, where the rule allows it, by the order of the tokens.
/// @throws Error{bad_metadata}
[[nodiscard]] inline Bpe read_merges(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                     const SplitRule& rule) {
  if (rule.ranks_by_id && !metadata.contains("tokenizer.ggml.merges")) {
    Bpe bpe(vocabulary, Bpe::count_merges_of_tokens(vocabulary));
    bpe.add_merges_of_tokens(vocabulary);
    return bpe;
  }
  const auto merges = metadata.require_array<std::string_view>("tokenizer.ggml.merges");
  Bpe bpe(vocabulary, merges.size());
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const std::size_t space = merges[i].find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merges[i].size()) {
      throw Error(Errc::bad_metadata, metadata.file() + ": tokenizer.ggml.merges element " + std::to_string(i) +
                                          " is not two texts with a space between");
    }
    const auto left = from_byte_alphabet(merges[i].substr(0, space));
    const auto right = from_byte_alphabet(merges[i].substr(space + 1));
    if (left && right) bpe.add_merge(vocabulary, *left, *right);
  }
  return bpe;
}

/// The scores of SentencePiece tokens.
/// @throws Error{bad_metadata}
[[nodiscard]] inline std::vector<float> read_scores(const gguf::Metadata& metadata, std::size_t n_tokens) {
  auto scores = metadata.require_array<float>("tokenizer.ggml.scores");
  if (scores.size() == n_tokens) return scores;
  throw Error(Errc::bad_metadata, metadata.file() + ": tokenizer.ggml.tokens has " + std::to_string(n_tokens) +
                                      " elements, but tokenizer.ggml.scores " + std::to_string(scores.size()));
}

}  // namespace lazymoe::text::detail
