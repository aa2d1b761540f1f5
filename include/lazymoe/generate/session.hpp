#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
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
#include "../text/thinking.hpp"
#include "../text/tokenizer.hpp"
#include "../text/utf8_stream.hpp"
#include "reply.hpp"
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
  text::ChatOptions chat = {};     ///< whether to think before answers, and which tools to offer
};

/// A conversation: keeps the messages and the KV cache, and runs only what is new of each prompt. When the context is
/// full the oldest turns leave it, also in the middle of an answer.
///
/// @thread one thread at a time; several sessions may share a model
class Session {
 public:
  /// @throws Error{unsupported_tokenizer, unsupported_template, bad_metadata}; Error{bad_argument} for options of no
  /// use
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
    (void)StopMatcher(options_.stop);  // refuses what is wrong with them now, not in the middle of a conversation
    clear();
  }

  /// Answers `message`; hands out the text as it comes, always whole characters.
  ///
  /// @param  on_piece called with the pieces of the answer as std::string_view, and with empty ones while the model
  ///         thinks; or, if it takes a Part too, with all pieces. If it returns bool, false ends the reply
  /// @post   question and answer are part of messages(); a reply cancelled before its first character leaves no trace
  /// @throws Error{context_full} when the message alone does not fit, Error{io}, whatever a callback throws: messages()
  ///         is as before, and the conversation can go on
  template <class OnPiece>
    requires std::invocable<OnPiece, std::string_view> || std::invocable<OnPiece, std::string_view, Part>
  Reply reply(std::string_view message, OnPiece&& on_piece, const PromptProgress& on_prompt = {}) {
    std::vector<text::ChatMessage> before = messages_;
    messages_.push_back({"user", std::string(message)});
    try {
      const auto show = [&](std::string_view piece, Part part) {
        if constexpr (std::invocable<OnPiece, std::string_view, Part>) {
          return call(on_piece, piece, part);
        } else {
          return call(on_piece, part == Part::answer ? piece : std::string_view());
        }
      };
      Reply reply;
      generate(reply, show, on_prompt);
      if (reply.end == Reply::End::cancelled && reply.text.empty() && reply.thinking.empty()) {
        messages_ = std::move(before);
        reply.n_dropped_turns = 0;
      } else {
        messages_.push_back({"assistant", reply.text, reply.thinking});
      }
      return reply;
    } catch (...) {
      messages_ = std::move(before);
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
  /// A prompt, and the part of it that later prompts will begin with too: all but the words the answer begins with.
  struct Prompt {
    std::vector<TokenId> tokens;
    std::size_t n_lasting = 0;
    bool opens_thinking = false;
  };

  /// False if the callback says so.
  template <class Fn, class... Args>
  [[nodiscard]] static bool call(Fn& fn, Args... args) {
    if constexpr (std::same_as<std::invoke_result_t<Fn&, Args...>, void>) {
      fn(args...);
      return true;
    } else {
      return static_cast<bool>(fn(args...));
    }
  }

  template <class Show>
  void generate(Reply& reply, const Show& show_piece, const PromptProgress& on_prompt) {
    Prompt prompt = write_prompt();
    if (!drop_turns_until_fits(prompt, 0, reply)) {
      throw Error(Errc::context_full, "the message does not fit: as a prompt it takes " +
                                          std::to_string(prompt.tokens.size()) + " tokens of a context of " +
                                          std::to_string(sequence_->capacity()) + ", which must hold an answer too");
    }
    instrument::Stopwatch watch;
    const bool ran = run_prompt(prompt, reply, on_prompt);
    reply.prompt_ns = watch.elapsed_ns();
    if (!ran) {
      reply.end = Reply::End::cancelled;
      return;
    }
    watch = {};
    answer(prompt, reply, show_piece);
    reply.generate_ns = watch.elapsed_ns();
  }

  template <class Show>
  void answer(Prompt& prompt, Reply& reply, const Show& show_piece) {
    text::Utf8Stream characters;
    StopMatcher stop(options_.stop);
    text::ThinkingSplitter splitter(prompt.opens_thinking);
    std::vector<TokenId>& tokens = prompt.tokens;
    std::size_t n_answer = 0;  // tokens of the answer at the end of `tokens`
    const auto show_parts = [&](const text::ThinkingSplitter::Parts& parts) {
      reply.thinking += parts.thinking;
      reply.text += parts.answer;
      return (parts.thinking.empty() || show_piece(std::string_view(parts.thinking), Part::thinking)) &&
             (parts.answer.empty() || show_piece(std::string_view(parts.answer), Part::answer));
    };
    const auto show = [&](const std::string& piece) { return show_parts(splitter.push(piece)); };
    for (;;) {
      const TokenId token = sampler_.sample(logits_, tokens);
      ++reply.n_generated;
      if (tokenizer_->ends_generation(token)) {
        reply.end = Reply::End::model;
        show(stop.push(characters.flush()));
        break;
      }
      tokens.push_back(token);
      ++n_answer;
      const bool go_on = show(stop.push(characters.push(tokenizer_->piece(token))));
      if (stop.stopped() || !go_on) {
        reply.end = stop.stopped() ? Reply::End::stop_text : Reply::End::cancelled;
        if (stop.stopped()) show_parts(splitter.flush());
        return;
      }
      if (options_.max_tokens != 0 && n_answer == options_.max_tokens) {
        reply.end = Reply::End::max_tokens;
        break;
      }
      if (tokens.size() > sequence_->capacity() && !make_room(prompt, n_answer, reply)) {
        reply.end = Reply::End::context_full;
        break;
      }
      run(tokens);
    }
    show(stop.flush());
    show_parts(splitter.flush());
  }

  [[nodiscard]] Prompt write_prompt() const {
    const auto encode = [&](const std::vector<text::Segment>& segments) {
      std::vector<TokenId> tokens = tokenizer_->encode(segments);
      const auto bos = tokenizer_->bos();
      if (tokenizer_->adds_bos() && bos && (tokens.empty() || tokens.front() != *bos)) {
        tokens.insert(tokens.begin(), *bos);
      }
      return tokens;
    };
    const auto segments = format_.render(messages_, true, options_.chat);
    Prompt prompt{.tokens = encode(segments), .opens_thinking = text::opens_thinking(segments)};
    const auto lasting = encode(format_.render(messages_, false, options_.chat));
    const auto common = std::mismatch(prompt.tokens.begin(), prompt.tokens.end(), lasting.begin(), lasting.end());
    prompt.n_lasting = static_cast<std::size_t>(common.first - prompt.tokens.begin());
    return prompt;
  }

  /// Drops turns in the middle of an answer; false if none is left to drop.
  [[nodiscard]] bool make_room(Prompt& prompt, std::size_t n_answer, Reply& reply) {
    const std::vector<TokenId> answer(prompt.tokens.end() - static_cast<std::ptrdiff_t>(n_answer), prompt.tokens.end());
    prompt.tokens.resize(prompt.tokens.size() - n_answer);
    const bool fits = drop_turns_until_fits(prompt, n_answer, reply);
    prompt.tokens.insert(prompt.tokens.end(), answer.begin(), answer.end());
    return fits;
  }

  /// Leaves room for at least one more token, and for a part of the context when turns have to go anyway, so that the
  /// next turn does not have to move everything again. False if even the last message alone is too long.
  [[nodiscard]] bool drop_turns_until_fits(Prompt& prompt, std::size_t n_answer, Reply& reply) {
    const std::size_t capacity = sequence_->capacity();
    if (prompt.tokens.size() + n_answer < capacity) return true;
    const std::size_t room = capacity / 8;
    while (prompt.tokens.size() + n_answer + room >= capacity && drop_oldest_turn()) {
      ++reply.n_dropped_turns;
      prompt = write_prompt();
    }
    return prompt.tokens.size() + n_answer < capacity;
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

  /// Runs a prompt batch by batch; false if it was cancelled in between. Where it may differ from the next prompt the
  /// sequence keeps its state, as some families cannot take tokens back.
  [[nodiscard]] bool run_prompt(const Prompt& prompt, Reply& reply, const PromptProgress& on_prompt) {
    const std::span<const TokenId> tokens = prompt.tokens;
    reply.n_reused = keep_common(tokens);
    while (held_.size() < tokens.size()) {
      if (on_prompt && !on_prompt(reply.n_prompt, tokens.size() - reply.n_reused)) return false;
      if (held_.size() == prompt.n_lasting) sequence_->keep();
      const std::size_t border = held_.size() < prompt.n_lasting ? prompt.n_lasting : tokens.size();
      const std::size_t n = std::min(options_.sequence.n_batch, border - held_.size());
      const bool last = held_.size() + n == tokens.size();
      run_held(tokens.first(held_.size() + n), last ? std::span(logits_) : std::span<float>());
      reply.n_prompt += n;
    }
    return true;
  }

  /// Brings the sequence to hold exactly `tokens`, running only what it does not hold yet, and takes the last logits.
  void run(std::span<const TokenId> tokens) {
    keep_common(tokens);
    run_held(tokens, logits_);
  }

  /// Takes back what the sequence holds beyond the beginning it has in common with `tokens`, and at least their last,
  /// whose logits are wanted. Returns how many stay.
  std::size_t keep_common(std::span<const TokenId> tokens) {
    const auto [held, wanted] = std::mismatch(held_.begin(), held_.end(), tokens.begin(), tokens.end());
    const std::size_t n = std::min(static_cast<std::size_t>(held - held_.begin()), tokens.size() - 1);
    held_.resize(sequence_->rewind(n));
    return held_.size();
  }

  /// Runs what follows in `tokens` on what is held.
  void run_held(std::span<const TokenId> tokens, std::span<float> logits) {
    try {
      model_->forward(*sequence_, tokens.subspan(held_.size()), logits);
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
