#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../gguf/metadata.hpp"
#include "vocabulary.hpp"

namespace lazymoe::text {

namespace detail {

/// Texts of tokens that end an answer even if no key of the file names them; the last two rows are padding and
/// separators of fill-in-the-middle prompts.
/// @source llama.cpp, llama-vocab.cpp
inline constexpr std::string_view end_marker_texts[] = {"<|eot_id|>",
                                                        "<|im_end|>",
                                                        "<|end|>",
                                                        "<|return|>",
                                                        "<|call|>",
                                                        "<|flush|>",
                                                        "<|calls|>",
                                                        "<end_of_turn>",
                                                        "<|endoftext|>",
                                                        "</s>",
                                                        "<|eom_id|>",
                                                        "<EOT>",
                                                        "_<EOT>",
                                                        "[EOT]",
                                                        "[EOS]",
                                                        "<|end_of_text|>",
                                                        "<end_of_utterance>",
                                                        "<eos>",
                                                        "<turn|>",
                                                        "<|tool_response>",
                                                        "<\uFF5Cend\u2581of\u2581sentence\uFF5C>",
                                                        "[e~[",
                                                        "<|fim_pad|>",
                                                        "<fim-pad>",
                                                        "<fim_pad>",
                                                        "<PAD>",
                                                        "[PAD]",
                                                        "<|fim_repo|>",
                                                        "<|repo_name|>",
                                                        "<fim-repo>",
                                                        "<REPO>",
                                                        "<reponame>",
                                                        "<|file_sep|>"};

}  // namespace detail

/// Whether a token of this text ends an answer, and is a control token even in a file that calls it something else.
[[nodiscard]] inline bool is_end_marker(std::string_view text) noexcept {
  return std::ranges::find(detail::end_marker_texts, text) != std::ranges::end(detail::end_marker_texts);
}

/// The token that a key names, if there is such a key.
/// @throws Error{bad_metadata} when it is no token
[[nodiscard]] inline std::optional<TokenId> token_of_key(const gguf::Metadata& metadata, std::string_view key,
                                                         std::size_t n_tokens) {
  const auto id = metadata.find<std::uint32_t>(key);
  if (!id) return std::nullopt;
  if (*id < n_tokens) return static_cast<TokenId>(*id);
  throw Error(Errc::bad_metadata, metadata.file() + ": key '" + std::string(key) + "' is " + std::to_string(*id) +
                                      ", but the vocabulary has " + std::to_string(n_tokens) + " tokens");
}

/// The tokens after which generation stops, ascending: those that keys name and those whose text is an end marker.
/// @throws Error{bad_metadata} when a key names no token
[[nodiscard]] inline std::vector<TokenId> end_tokens(const gguf::Metadata& metadata, const Vocabulary& vocabulary) {
  std::vector<TokenId> tokens;
  for (const std::string_view name : {"eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"}) {
    const std::string key = std::string("tokenizer.ggml.").append(name).append("_token_id");
    if (const auto token = token_of_key(metadata, key, vocabulary.size())) tokens.push_back(*token);
  }
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    if (vocabulary.kind(token) == TokenKind::control && is_end_marker(vocabulary.bytes(token))) tokens.push_back(token);
  }

  // Some vocabularies hold an end marker of another kind of message beside the real ones.
  const auto has = [&](std::string_view text) {
    return std::ranges::any_of(tokens, [&](TokenId token) { return vocabulary.bytes(token) == text; });
  };
  const auto drop = [&](std::string_view text) {
    std::erase_if(tokens, [&](TokenId token) { return vocabulary.bytes(token) == text; });
  };
  if ((has("<|return|>") && has("<|call|>")) || (has("<|calls|>") && has("<|flush|>"))) drop("<|end|>");
  if (has("<|tool_response>")) drop("</s>");

  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

}  // namespace lazymoe::text
