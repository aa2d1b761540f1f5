#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../gguf/file.hpp"
#include "../parallel/thread_pool.hpp"
#include "../quant/decode.hpp"
#include "../quant/packed_matrix.hpp"
#include "../store/source.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"
#include "../tensor/norm.hpp"
#include "../tensor/rope.hpp"
#include "architecture.hpp"
#include "config.hpp"
#include "feed_forward.hpp"
#include "sequence.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// State and scratch of one sequence of a Decoder<Mixer>.
template <TokenMixer Mixer>
class DecoderSequence final : public Sequence {
 public:
  DecoderSequence(typename Mixer::State state, std::size_t n_batch) : state_(std::move(state)), n_batch_(n_batch) {}

  [[nodiscard]] std::size_t length() const noexcept override { return state_.length(); }
  [[nodiscard]] std::size_t capacity() const noexcept override { return state_.capacity(); }
  [[nodiscard]] Bytes bytes() const noexcept override { return state_.bytes(); }
  std::size_t rewind(std::size_t length) noexcept override { return state_.rewind(length); }
  void keep() override { state_.keep(); }

 private:
  template <TokenMixer>
  friend class Decoder;

  typename Mixer::State state_;
  typename Mixer::Scratch mixer_;
  FeedForwardScratch ffn_;
  tensor::Activations last_inputs_;
  tensor::Matrix hidden_;  // [n_batch, n_embd]: the residual stream
  tensor::Matrix normed_;  // [n_batch, n_embd]
  tensor::Matrix delta_;   // [n_batch, n_embd]: what a sublayer adds
  tensor::Matrix guess_;   // [n_batch, n_embd]: what a later layer's router would see
  std::size_t n_batch_;
};

/// The pre-norm transformer: from tokens to logits. Families that mix tokens alike share it; what else distinguishes
/// them is in the configuration.
///
/// @thread const members may run for different sequences at once
template <TokenMixer Mixer>
class Decoder {
 public:
  using SequenceType = DecoderSequence<Mixer>;

  /// Checks everything, then reads the dense weights.
  /// @throws Error{bad_tensor, bad_metadata, io}
  Decoder(Config config, const gguf::File& file, store::ExpertSource& experts, parallel::ThreadPool& pool,
          WeightStorage how, const Progress& progress)
      : config_(std::move(config)), rope_(config_.rope), experts_(&experts), pool_(&pool) {
    WeightBinder binder(file);
    bind(binder, file);
    weights_ = binder.load(how, progress);
  }

  // The binder's destinations are members.
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Everything load would refuse the file for, without reading weights.
  /// @throws Error{bad_tensor, bad_metadata}
  static void check(Config config, const gguf::File& file) {
    Decoder unloaded(std::move(config));
    WeightBinder binder(file);
    unloaded.bind(binder, file);
  }

  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] Bytes weight_bytes() const noexcept { return weights_.bytes(); }

  [[nodiscard]] SequenceType new_sequence(const SequenceOptions& options) const {
    return {Mixer::new_state(config_, options), options.n_batch};
  }

  /// Runs `tokens` at the end of the sequence and writes logits: of the last token, of all, or of none.
  ///
  /// @shape  tokens[n] -> logits[n_vocab], logits[n, n_vocab] or logits[0]
  /// @throws Error{context_full, bad_argument} before anything is run; Error{io} with the sequence as it was before
  ///         the failed batch, or where the family cannot take a batch back, at its last kept position
  void forward(SequenceType& s, std::span<const TokenId> tokens, std::span<float> logits) const {
    const std::size_t n_vocab = config_.n_vocab;
    LAZYMOE_EXPECTS(logits.empty() || logits.size() == n_vocab || logits.size() == n_vocab * tokens.size());
    if (tokens.size() > s.capacity() - s.length()) {
      throw Error(Errc::context_full, std::to_string(tokens.size()) + " tokens do not fit a context of " +
                                          std::to_string(s.capacity()) + " that holds " + std::to_string(s.length()));
    }
    for (const TokenId token : tokens) {
      if (token < 0 || static_cast<std::size_t>(token) >= n_vocab) {
        throw Error(Errc::bad_argument, "token " + std::to_string(token) + " is not in the vocabulary of " +
                                            std::to_string(n_vocab));
      }
    }
    const bool all = logits.size() == n_vocab * tokens.size();
    for (std::size_t first = 0; first < tokens.size(); first += s.n_batch_) {
      const auto batch = tokens.subspan(first, std::min(s.n_batch_, tokens.size() - first));
      try {
        run_blocks(s, batch);
      } catch (...) {
        s.state_.abandon();
        throw;
      }
      const bool last = first + batch.size() == tokens.size();
      if (all) {
        project(s, 0, batch.size(), logits.subspan(first * n_vocab, batch.size() * n_vocab));
      } else if (last && !logits.empty()) {
        project(s, batch.size() - 1, 1, logits);
      }
      s.state_.advance(batch.size());
    }
  }

 private:
  struct Block {
    std::vector<float> mixer_norm;
    Mixer mixer;
    std::vector<float> ffn_norm;
    FeedForward ffn;
  };

  explicit Decoder(Config config) : config_(std::move(config)), rope_(config_.rope) {}

  void bind(WeightBinder& binder, const gguf::File& file) {
    Config& c = config_;
    const gguf::TensorInfo* embedding = file.find("token_embd.weight");
    const gguf::TensorInfo* output = file.find("output.weight");
    const gguf::TensorInfo* vocabulary = embedding != nullptr ? embedding : output;
    c.n_vocab = vocabulary == nullptr ? 0 : static_cast<std::size_t>(vocabulary->rows());
    binder.matrix(embedding_, "token_embd.weight", c.n_vocab, c.n_embd);
    binder.vector(output_norm_, "output_norm.weight", c.n_embd);
    if (vocabulary != nullptr) {
      binder.matrix(output_, output != nullptr ? "output.weight" : "token_embd.weight", c.n_vocab, c.n_embd);
    }
    blocks_.resize(c.n_layers);
    for (std::size_t i = 0; i < c.n_layers; ++i) {
      const auto layer = static_cast<LayerIndex>(i);
      const std::string prefix = block_prefix(layer);
      Block& block = blocks_[i];
      binder.vector(block.mixer_norm, prefix + "attn_norm.weight", c.n_embd);
      block.mixer.bind(binder, c, layer);
      binder.vector(block.ffn_norm, prefix + c.ffn_norm + ".weight", c.n_embd);
      block.ffn.bind(binder, c, layer);
    }
    binder.check(c.n_layers);
  }

  void run_blocks(SequenceType& s, std::span<const TokenId> batch) const {
    const Config& c = config_;
    const auto rows = static_cast<Eigen::Index>(batch.size());
    for (tensor::Matrix* m : {&s.hidden_, &s.normed_, &s.delta_}) m->resize(rows, static_cast<Eigen::Index>(c.n_embd));
    tensor::Rows hidden = s.hidden_;
    for (std::size_t t = 0; t < batch.size(); ++t) {
      quant::decode_row(embedding_, static_cast<std::size_t>(batch[t]), tensor::row(hidden, t));
    }
    if (c.embedding_scale != 1.0F) s.hidden_ *= c.embedding_scale;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto layer = static_cast<LayerIndex>(i);
      const Block& block = blocks_[i];
      tensor::rms_norm(hidden, block.mixer_norm, c.rms_epsilon, s.normed_);
      block.mixer.run(c, rope_, s.normed_, s.state_, s.mixer_, *pool_, s.delta_);
      add_delta(s);
      tensor::rms_norm(hidden, block.ffn_norm, c.rms_epsilon, s.normed_);
      block.ffn.run(layer, c, s.normed_, s.state_.length(), *experts_, s.ffn_, *pool_, [&] { expect_after(s, i); },
                    s.delta_);
      add_delta(s);
    }
  }

  /// Asks the routers of the blocks after `i` what they would choose now, if the source of the experts wants to know.
  void expect_after(SequenceType& s, std::size_t i) const {
    const store::Lookahead ahead = experts_->lookahead();
    const std::size_t end = std::min(blocks_.size(), i + 1 + ahead.depth);
    for (std::size_t next = i + 1; next < end; ++next) {
      s.guess_.resize(s.hidden_.rows(), s.hidden_.cols());
      tensor::rms_norm(s.hidden_, blocks_[next].ffn_norm, config_.rms_epsilon, s.guess_);
      blocks_[next].ffn.expect(static_cast<LayerIndex>(next), config_, s.guess_, ahead.width, *experts_, s.ffn_, *pool_);
    }
  }

  void add_delta(SequenceType& s) const {
    if (config_.residual_scale != 1.0F) s.delta_ *= config_.residual_scale;
    s.hidden_ += s.delta_;
  }

  /// Logits of `n` rows of the residual stream from `first` on.
  void project(SequenceType& s, std::size_t first, std::size_t n, std::span<float> logits) const {
    const auto index = [](std::size_t i) { return static_cast<Eigen::Index>(i); };
    tensor::Rows normed = s.normed_.middleRows(index(first), index(n));
    tensor::rms_norm(tensor::Rows(s.hidden_.middleRows(index(first), index(n))), output_norm_, config_.rms_epsilon,
                     normed);
    s.last_inputs_.assign(normed);
    Eigen::Map<tensor::Matrix> out(logits.data(), index(n), index(config_.n_vocab));
    tensor::matmul(output_, s.last_inputs_, out, *pool_);
    if (config_.logit_scale != 1.0F) out *= config_.logit_scale;
  }

  Config config_;
  tensor::Rope rope_;
  store::ExpertSource* experts_ = nullptr;
  parallel::ThreadPool* pool_ = nullptr;
  quant::PackedMatrix embedding_;
  quant::PackedMatrix output_;
  std::vector<float> output_norm_;
  std::vector<Block> blocks_;
  ResidentWeights weights_;
};

}  // namespace lazymoe::models
