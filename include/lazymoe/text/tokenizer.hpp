#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../gguf/metadata.hpp"
#include "bpe.hpp"
#include "detail/read_vocabulary.hpp"
#include "end_tokens.hpp"
#include "pretokenizer.hpp"
#include "segment.hpp"
#include "sentence_piece.hpp"
#include "special_tokens.hpp"
#include "split_rules.hpp"
#include "utf8_stream.hpp"
#include "vocabulary.hpp"

namespace lazymoe::text {

/// Text to tokens and back, by the rules and the vocabulary that a model file carries: byte-level BPE or SentencePiece.
///
/// No BOS is added: a program puts bos() first if adds_bos() and its prompt does not begin with it already.
/// @memory about 60 bytes per token and merge together, nothing of the metadata
/// @thread safe: all members are const
class Tokenizer {
 public:
  /// @throws Error{unsupported_tokenizer} for a model other than gpt2 and llama or an unknown pre-tokenizer
  /// @throws Error{bad_metadata} when keys are missing or contradict each other
  explicit Tokenizer(const gguf::Metadata& metadata) : Tokenizer(metadata, detail::read_method(metadata)) {}

  /// The tokens of one text. Bytes that are not UTF-8 are read as U+FFFD.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, SpecialTokens special) const {
    const std::string valid = replace_invalid(text);
    const TrustedRange whole{0, valid.size()};
    return encode_valid(valid, {&whole, special == SpecialTokens::recognise ? 1U : 0U});
  }

  /// The tokens of a prompt: control tokens count in the template's segments only, but words are split and merged
  /// across the borders, so that tokens are those of the joined text.
  [[nodiscard]] std::vector<TokenId> encode(std::span<const Segment> segments) const {
    std::string prompt;
    std::vector<TrustedRange> trusted;
    for (const Segment& segment : segments) {
      const std::size_t begin = prompt.size();
      prompt += replace_invalid(segment.text);
      if (!segment.is_template) continue;
      if (!trusted.empty() && trusted.back().end == begin) {
        trusted.back().end = prompt.size();
      } else {
        trusted.push_back({begin, prompt.size()});
      }
    }
    return encode_valid(prompt, trusted);
  }

  /// The bytes of a token, perhaps part of a character only (see Utf8Stream). Control and unknown tokens have their
  /// text if `special`, else nothing; unused ones and ids outside the vocabulary have nothing.
  [[nodiscard]] std::string piece(TokenId token, bool special = false) const {
    if (!vocabulary_.contains(token)) return {};
    const TokenKind kind = vocabulary_.kind(token);
    const bool hidden =
        kind == TokenKind::unused || (!special && (kind == TokenKind::control || kind == TokenKind::unknown));
    return hidden ? std::string() : std::string(vocabulary_.bytes(token));
  }

  /// The pieces one after the other, without the space that encode() puts before a text, if it does; of encode(x) for
  /// valid UTF-8 without special tokens, x.
  [[nodiscard]] std::string decode(std::span<const TokenId> tokens, bool special = false) const {
    std::string bytes;
    for (const TokenId token : tokens) bytes += piece(token, special);
    if (adds_space_ && !tokens.empty() && piece(tokens.front()).starts_with(' ')) bytes.erase(0, 1);
    return bytes;
  }

  [[nodiscard]] bool is_control(TokenId token) const {
    return vocabulary_.contains(token) && vocabulary_.kind(token) == TokenKind::control;
  }

  /// Whether an answer is over with this token, which is not part of it.
  [[nodiscard]] bool ends_generation(TokenId token) const { return std::ranges::binary_search(ends_, token); }

  [[nodiscard]] std::optional<TokenId> bos() const noexcept { return bos_; }
  [[nodiscard]] std::optional<TokenId> eos() const noexcept { return eos_; }
  [[nodiscard]] bool adds_bos() const noexcept { return adds_bos_; }

  /// The token whose bytes are just these; of several, a special one first, then the lowest id.
  [[nodiscard]] std::optional<TokenId> find(std::string_view token_text) const {
    const auto special = special_.find(vocabulary_, token_text);
    return special ? special : vocabulary_.find(token_text);
  }

  /// Number of tokens.
  [[nodiscard]] std::size_t size() const noexcept { return vocabulary_.size(); }

 private:
  struct ByteLevel {
    const SplitRule* rule;
    Pretokenizer pretokenizer;
    Bpe bpe;
  };
  using Model = std::variant<ByteLevel, SentencePiece>;

  Tokenizer(const gguf::Metadata& metadata, detail::Method method)
      : vocabulary_(detail::read_vocabulary(metadata, method)),
        model_(read_model(metadata, method, vocabulary_)),
        special_(vocabulary_),
        ends_(end_tokens(metadata, vocabulary_)),
        bos_(token_of_key(metadata, "tokenizer.ggml.bos_token_id", size())),
        eos_(token_of_key(metadata, "tokenizer.ggml.eos_token_id", size())),
        adds_bos_(method == detail::Method::llama || std::get<ByteLevel>(model_).rule->adds_bos) {
    if (method == detail::Method::llama) {
      // SentencePiece files need not name the usual ids.
      if (!bos_ && size() > 1) bos_ = 1;
      if (!eos_ && size() > 2) eos_ = 2;
      adds_space_ = metadata.find<bool>("tokenizer.ggml.add_space_prefix").value_or(true);
    }
    adds_bos_ = metadata.find<bool>("tokenizer.ggml.add_bos_token").value_or(adds_bos_);
    if (adds_bos_ && !bos_) {
      throw Error(Errc::bad_metadata,
                  metadata.file() +
                      ": prompts begin with a token, by tokenizer.ggml.add_bos_token or by default, "
                      "that tokenizer.ggml.bos_token_id does not name");
    }
  }

  [[nodiscard]] static Model read_model(const gguf::Metadata& metadata, detail::Method method,
                                        const Vocabulary& vocabulary) {
    if (method == detail::Method::llama) {
      const auto unknown = token_of_key(metadata, "tokenizer.ggml.unknown_token_id", vocabulary.size());
      return SentencePiece(vocabulary, detail::read_scores(metadata, vocabulary.size()), unknown.value_or(0));
    }
    const SplitRule& rule = split_rule(metadata.require<std::string_view>("tokenizer.ggml.pre"), metadata.file());
    return ByteLevel{&rule, Pretokenizer(rule), detail::read_merges(metadata, vocabulary, rule)};
  }

  [[nodiscard]] std::vector<TokenId> encode_valid(std::string_view text, std::span<const TrustedRange> trusted) const {
    const std::vector<Fragment> fragments = special_.cut(vocabulary_, text, trusted);
    std::vector<TokenId> tokens;
    std::visit([&](const auto& model) { encode_with(model, text, fragments, tokens); }, model_);
    return tokens;
  }

  void encode_with(const ByteLevel& model, std::string_view text, std::span<const Fragment> fragments,
                   std::vector<TokenId>& tokens) const {
    Bpe::Scratch scratch;
    for (const Fragment& fragment : fragments) {
      if (fragment.token != no_token) {
        tokens.push_back(fragment.token);
        continue;
      }
      model.pretokenizer.split(text.substr(fragment.begin, fragment.end - fragment.begin), [&](std::string_view word) {
        const auto whole = model.rule->takes_whole_words ? vocabulary_.find(word) : std::nullopt;
        if (whole) {
          tokens.push_back(*whole);
        } else {
          model.bpe.encode(word, scratch, tokens);
        }
      });
    }
  }

  void encode_with(const SentencePiece& model, std::string_view text, std::span<const Fragment> fragments,
                   std::vector<TokenId>& tokens) const {
    SentencePiece::Scratch scratch;
    std::string spaced;
    for (const Fragment& fragment : fragments) {
      if (fragment.token != no_token) {
        tokens.push_back(fragment.token);
        continue;
      }
      // Fragments touch special tokens or the beginning only.
      spaced.assign(adds_space_ ? " " : "");
      spaced += detail::with_spaces(text.substr(fragment.begin, fragment.end - fragment.begin));
      model.encode(vocabulary_, spaced, scratch, tokens);
    }
  }

  Vocabulary vocabulary_;
  Model model_;
  SpecialTokenFinder special_;
  std::vector<TokenId> ends_;  // ascending
  std::optional<TokenId> bos_;
  std::optional<TokenId> eos_;
  bool adds_bos_;
  bool adds_space_ = false;
};

}  // namespace lazymoe::text
