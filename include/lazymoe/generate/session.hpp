#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../gguf/metadata.hpp"
#include "../instrument/stopwatch.hpp"
#include "../models/load.hpp"
#include "../models/sequence.hpp"
#include "../text/chat_template.hpp"
#include "../text/tokenizer.hpp"
#include "../text/utf8_stream.hpp"
#include "sampler.hpp"
#include "stop.hpp"

namespace lazymoe::generate {

struct SessionOptions {
  SamplerOptions sampler;
  models::SequenceOptions sequence;
  std::size_t max_tokens = 0;      ///< of one reply; 0: until the model ends it
  std::vector<std::string> stop;   ///< texts that end a reply and are not shown
  std::string system;              ///< what the conversation begins with; empty: nothing
  std::string chat_template = {};  ///< name; empty: recognised from the file
};

/// How a reply went.
struct Reply {
  enum class End : std::uint8_t { model, stop_text, max_tokens, cancelled };

  std::string text;
  End end = End::model;
  std::size_t n_reused = 0;         ///< prompt tokens that were still in the KV cache
  std::size_t n_prompt = 0;         ///< prompt tokens that were run
  std::size_t n_generated = 0;      ///< tokens sampled, the end token included
  std::size_t n_dropped_turns = 0;  ///< oldest turns that had to leave a full context
  std::uint64_t prompt_ns = 0;
  std::uint64_t generate_ns = 0;
};

/// A conversation: keeps the messages and the KV cache, and runs only what is new of each prompt. When the context is
/// full the oldest turns leave it.
///
/// @thread one thread at a time; several sessions may share a model
class Session {
 public:
  /// @throws Error{unsupported_tokenizer, unsupported_template, bad_metadata, bad_argument}
  Session(const models::Model& model, const gguf::Metadata& metadata, SessionOptions options = {})
      : Session(model, std::make_shared<const text::Tokenizer>(metadata),
                options.chat_template.empty() ? text::recognise_chat_template(metadata)
                                              : text::chat_template_by_name(options.chat_template),
                options) {}

  /// Shares a tokenizer between sessions.
  Session(const models::Model& model, std::shared_ptr<const text::Tokenizer> tokenizer, text::ChatFormat format,
          SessionOptions options = {})
      : model_(&model),
        tokenizer_(std::move(tokenizer)),
        format_(format),
        options_(std::move(options)),
        sampler_(options_.sampler),
        sequence_(model.new_sequence(options_.sequence)),
        logits_(model.config().n_vocab) {
    clear();
  }

  /// Answers `message`; hands out the text as it comes, always whole characters.
  ///
  /// @param  on_piece called with std::string_view; if it returns bool, false ends the reply
  /// @throws Error{context_full} when the message alone does not fit, Error{io}: the message then counts as not said
  template <std::invocable<std::string_view> OnPiece>
  Reply reply(std::string_view message, OnPiece&& on_piece) {
    messages_.push_back({"user", std::string(message)});
    try {
      Reply reply = generate([&](std::string_view piece) {
        if constexpr (std::same_as<std::invoke_result_t<OnPiece, std::string_view>, void>) {
          on_piece(piece);
          return true;
        } else {
          return static_cast<bool>(on_piece(piece));
        }
      });
      messages_.push_back({"assistant", reply.text});
      return reply;
    } catch (...) {
      messages_.pop_back();
      throw;
    }
  }

  /// Forgets the conversation, but not the system message.
  void clear() {
    messages_.clear();
    if (!options_.system.empty()) messages_.push_back({"system", options_.system});
  }

  [[nodiscard]] std::span<const text::ChatMessage> messages() const noexcept { return messages_; }
  [[nodiscard]] const text::Tokenizer& tokenizer() const noexcept { return *tokenizer_; }
  [[nodiscard]] const models::Sequence& sequence() const noexcept { return *sequence_; }

 private:
  template <class OnPiece>
  Reply generate(OnPiece&& on_piece) {
    Reply reply;
    std::vector<TokenId> tokens = prompt();
    drop_turns_until_fits(tokens, 0, reply);
    instrument::Stopwatch watch;
    run(tokens, reply);
    reply.prompt_ns = watch.elapsed_ns();

    watch = {};
    text::Utf8Stream characters;
    StopMatcher stop(options_.stop);
    std::size_t n_answer = 0;  // tokens of the answer at the end of `tokens`
    const auto show = [&](const std::string& piece) {
      reply.text += piece;
      return piece.empty() || on_piece(std::string_view(piece));
    };
    for (;;) {
      const TokenId token = sampler_.sample(logits_, tokens);
      ++reply.n_generated;
      if (tokenizer_->ends_generation(token)) {
        reply.end = Reply::End::model;
        break;
      }
      tokens.push_back(token);
      ++n_answer;
      const bool go_on = show(stop.push(characters.push(tokenizer_->piece(token))));
      if (stop.stopped() || !go_on) {
        reply.end = stop.stopped() ? Reply::End::stop_text : Reply::End::cancelled;
        break;
      }
      if (options_.max_tokens != 0 && n_answer == options_.max_tokens) {
        reply.end = Reply::End::max_tokens;
        break;
      }
      if (tokens.size() > sequence_->capacity()) {
        const std::vector<TokenId> answer(tokens.end() - static_cast<std::ptrdiff_t>(n_answer), tokens.end());
        tokens = prompt();
        drop_turns_until_fits(tokens, n_answer, reply);
        tokens.insert(tokens.end(), answer.begin(), answer.end());
      }
      run(tokens, reply);
    }
    if (!stop.stopped()) {
      show(stop.push(characters.flush()));
      show(stop.flush());
    }
    reply.generate_ns = watch.elapsed_ns();
    return reply;
  }

  [[nodiscard]] std::vector<TokenId> prompt() const {
    std::vector<TokenId> tokens = tokenizer_->encode(format_.render(messages_, true));
    const auto bos = tokenizer_->bos();
    if (tokenizer_->adds_bos() && bos && (tokens.empty() || tokens.front() != *bos)) tokens.insert(tokens.begin(), *bos);
    return tokens;
  }

  /// Leaves room for at least one more token, and for a part of the context when turns have to go anyway, so that the
  /// next turn does not have to move everything again.
  void drop_turns_until_fits(std::vector<TokenId>& tokens, std::size_t n_answer, Reply& reply) {
    const std::size_t capacity = sequence_->capacity();
    if (tokens.size() + n_answer < capacity) return;
    const std::size_t room = capacity / 8;
    while (tokens.size() + n_answer + room >= capacity && drop_oldest_turn()) {
      ++reply.n_dropped_turns;
      tokens = prompt();
    }
    if (tokens.size() + n_answer >= capacity) {
      throw Error(Errc::context_full, "the conversation's last message and its answer, " +
                                          std::to_string(tokens.size() + n_answer) +
                                          " tokens, do not fit the context of " + std::to_string(capacity));
    }
  }

  /// Drops the oldest question and its answer; false if only the last message is left.
  bool drop_oldest_turn() {
    const auto is_user = [](const text::ChatMessage& m) { return m.role == "user"; };
    const auto first = std::find_if(messages_.begin(), messages_.end(), is_user);
    const auto next = first == messages_.end() ? first : std::find_if(first + 1, messages_.end(), is_user);
    if (next == messages_.end()) return false;
    messages_.erase(first, next);
    return true;
  }

  /// Brings the sequence to hold exactly `tokens`, running only what it does not hold yet, and takes the last logits.
  void run(std::span<const TokenId> tokens, Reply& reply) {
    const auto [held, wanted] = std::mismatch(held_.begin(), held_.end(), tokens.begin(), tokens.end());
    // At least the last token is run: its logits are wanted.
    const std::size_t common = std::min(static_cast<std::size_t>(held - held_.begin()), tokens.size() - 1);
    sequence_->rewind(common);
    held_.resize(common);
    const bool is_prompt = reply.n_generated == 0;
    if (is_prompt) {
      reply.n_reused = common;
      reply.n_prompt = tokens.size() - common;
    }
    try {
      model_->forward(*sequence_, tokens.subspan(common), logits_);
    } catch (...) {
      held_.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(sequence_->length()));
      throw;
    }
    held_.assign(tokens.begin(), tokens.end());
  }

  const models::Model* model_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;
  text::ChatFormat format_;
  SessionOptions options_;
  Sampler sampler_;
  std::unique_ptr<models::Sequence> sequence_;
  std::vector<float> logits_;
  std::vector<text::ChatMessage> messages_;
  std::vector<TokenId> held_;  // the tokens whose keys and values the sequence holds
};

}  // namespace lazymoe::generate
