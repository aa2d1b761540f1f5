#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../gguf/metadata.hpp"
#include "../moe/activation.hpp"
#include "../moe/router.hpp"
#include "../tensor/rope.hpp"

namespace lazymoe::models {

/// What an RMS norm of queries and keys runs over.
enum class HeadNorm {
  none,
  heads,  ///< each head by itself: Qwen3
  rows,   ///< all heads of a token together: OLMoE
  heads_if_present,  ///< as heads, if the file has the weights: GLM-4.5
};

/// Which projections of an attention have a bias.
enum class AttentionBiases {
  none,
  inputs,  ///< query, key and value
  all,     ///< these and the output
};

/// Shape of the layers whose memory is a matrix and not a cache: gated DeltaNet.
struct DeltaNetShape {
  std::size_t n_key_heads = 0;    ///< of keys, and of queries
  std::size_t n_value_heads = 0;  ///< a multiple: each with a state of its own
  std::size_t head_dim = 0;       ///< of keys, queries and values
  std::size_t n_taps = 0;         ///< of the causal convolution
  bool grouped = false;           ///< value heads that share a key head are neighbours; else they lie n_key_heads apart

  [[nodiscard]] std::size_t key_width() const noexcept { return n_key_heads * head_dim; }
  [[nodiscard]] std::size_t value_width() const noexcept { return n_value_heads * head_dim; }
  /// Queries, keys and values of a token side by side.
  [[nodiscard]] std::size_t channels() const noexcept { return 2 * key_width() + value_width(); }
};

/// Shape of multi-head latent attention.
struct LatentShape {
  std::size_t query_rank = 0;  ///< of the queries' own bottleneck; 0: there is none
  std::size_t rank = 0;        ///< numbers of a token that all keys and values are made of
};

/// Hyper-parameters. The reader below fills what all families share; a family's own header adds or fixes the rest.
/// @source keys: spec of the GGUF format, "Standardized key-value pairs"
struct Config {
  std::string architecture;
  std::size_t n_layers = 0;  ///< that run: without the trailing next-token-prediction blocks
  std::size_t n_embd = 0;
  std::size_t n_ctx_train = 0;
  std::size_t n_vocab = 0;
  float rms_epsilon = 0.0F;

  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;
  std::size_t key_dim = 0;    ///< of one head
  std::size_t value_dim = 0;  ///< of one head
  HeadNorm head_norm = HeadNorm::none;
  AttentionBiases attention_biases = AttentionBiases::none;
  bool attention_sinks = false;  ///< a logit in every head that takes its share of attention and gives nothing
  std::size_t window = 0;        ///< positions that every other layer sees, from the first on; 0: no such layers
  float score_scale = 0.0F;      ///< of queries times keys; 0: 1 / sqrt(key_dim)
  bool attention_gate = false;  ///< each head's output is multiplied by a sigmoid that stands beside its query
  tensor::RopeOptions rope;
  LatentShape latent;

  std::vector<bool> recurrent;  ///< by layer: DeltaNet, not attention; empty: all layers attend
  DeltaNetShape delta_net;

  /// Layers before `layer` that are recurrent.
  [[nodiscard]] std::size_t recurrent_before(std::size_t layer) const noexcept {
    return static_cast<std::size_t>(std::count(recurrent.begin(), recurrent.begin() + offset(layer), true));
  }

  std::string ffn_norm = "ffn_norm";  ///< name of the norm before the feed-forward
  std::size_t n_dense_layers = 0;     ///< leading layers without experts
  std::size_t n_ff_dense = 0;         ///< width of their feed-forward
  std::size_t n_experts = 0;
  std::size_t n_experts_used = 0;
  std::size_t n_ff_expert = 0;  ///< width of one expert
  std::size_t n_ff_shared = 0;  ///< width of the shared expert; 0: there is none
  bool shared_gate = false;     ///< the shared expert's output is multiplied by a sigmoid of its own
  bool selection_bias = false;  ///< a bias chooses experts beside their scores
  bool expert_biases = false;   ///< on the router's logits and on the products of every expert
  moe::Activation activation = moe::Activation::swiglu;  ///< of the experts
  moe::TopKRouter router;

  float embedding_scale = 1.0F;  ///< multiplies embeddings
  float residual_scale = 1.0F;   ///< multiplies what a sublayer adds
  float logit_scale = 1.0F;      ///< multiplies logits

 private:
  [[nodiscard]] std::ptrdiff_t offset(std::size_t layer) const noexcept {
    return static_cast<std::ptrdiff_t>(std::min(layer, recurrent.size()));
  }
};

/// Reads one hyper-parameter of the file's own architecture: `key` is without its prefix.
class ConfigReader {
 public:
  explicit ConfigReader(const gguf::Metadata& metadata)
      : metadata_(metadata), prefix_(std::string(metadata.require<std::string_view>("general.architecture")) + ".") {}

  [[nodiscard]] bool has(std::string_view key) const { return metadata_.contains(prefix_ + std::string(key)); }

  template <class T>
  [[nodiscard]] T require(std::string_view key) const {
    return metadata_.require<T>(prefix_ + std::string(key));
  }
  template <class T>
  [[nodiscard]] T value_or(std::string_view key, T otherwise) const {
    return metadata_.find<T>(prefix_ + std::string(key)).value_or(otherwise);
  }
  /// A size that is neither 0 nor absurd, so that products of a few of them fit.
  /// @throws Error{bad_metadata}
  [[nodiscard]] std::size_t positive(std::string_view key) const { return checked(key, require<std::uint64_t>(key)); }
  [[nodiscard]] std::size_t positive_or(std::string_view key, std::size_t otherwise) const {
    return checked(key, value_or<std::uint64_t>(key, otherwise));
  }
  /// An array of at least `n` flags, as bools or as integers; those past `n` are cut.
  /// @throws Error{bad_metadata}
  [[nodiscard]] std::vector<bool> flags(std::string_view key, std::size_t n) const {
    const gguf::Value* const value = metadata_.value(prefix_ + std::string(key));
    if (value == nullptr) refuse(key, "is missing");
    auto flags = value->as_array<bool>();
    if (const auto numbers = value->as_array<std::uint64_t>()) flags.emplace(numbers->begin(), numbers->end());
    if (!flags || flags->size() < n) refuse(key, "is not an array of " + std::to_string(n) + " flags or more");
    flags->resize(n);
    return *std::move(flags);
  }
  /// @throws Error{bad_metadata}
  [[noreturn]] void refuse(std::string_view key, const std::string& reason) const {
    throw Error(Errc::bad_metadata, metadata_.file() + ": key '" + prefix_ + std::string(key) + "' " + reason);
  }

  [[nodiscard]] const gguf::Metadata& metadata() const noexcept { return metadata_; }

 private:
  [[nodiscard]] std::size_t checked(std::string_view key, std::uint64_t value) const {
    if (value == 0 || value > (std::uint64_t{1} << 24)) refuse(key, "is out of range: " + std::to_string(value));
    return static_cast<std::size_t>(value);
  }

  const gguf::Metadata& metadata_;
  std::string prefix_;
};

/// What YaRN multiplies sines and cosines by, the weights being those of Peng et al.'s temperature: 1 in the numerator
/// for most families. Formed as the reference does, which takes a factor out and in again.
[[nodiscard]] inline float yarn_magnitude(const ConfigReader& in, float freq_scale, float numerator,
                                          float denominator) {
  const float factor = 1.0F / freq_scale;
  const auto temperature = [&](float weight) {
    return factor <= 1.0F ? 1.0F : 0.1F * weight * std::log(factor) + 1.0F;
  };
  const float growth = 1.0F + 0.1F * std::log(factor);
  const float without = temperature(numerator) / temperature(denominator) * (1.0F / growth);
  const float magnitude = without * in.value_or<float>("rope.scaling.attn_factor", 1.0F) * growth;
  if (!(magnitude > 0.0F) || !std::isfinite(magnitude)) in.refuse("rope.scaling.attn_factor", "is out of range");
  return magnitude;
}

/// How positions beyond the training's are scaled.
/// @source Peng et al., "YaRN", 2023
inline void read_rope_scaling(const ConfigReader& in, Config& c) {
  const auto type = in.value_or<std::string_view>("rope.scaling.type", "linear");
  if (type != "none" && type != "linear" && type != "yarn") {
    throw Error(Errc::unsupported_model, in.metadata().file() + ": key '" + c.architecture +
                                             ".rope.scaling.type' asks for '" + std::string(type) +
                                             "', which is not supported");
  }
  const auto positive = [&](std::string_view key, float otherwise) {
    const auto value = in.value_or<float>(key, otherwise);
    if (!(value > 0.0F) || !std::isfinite(value)) in.refuse(key, "is not a positive number");
    return value;
  };
  c.rope.magnitude = positive("rope.scaling.attn_factor", 1.0F);
  if (type == "none") return;
  // Old files have the second key.
  const auto factor = in.value_or<float>("rope.scaling.factor", in.value_or<float>("rope.scale_linear", 0.0F));
  c.rope.freq_scale = factor == 0.0F ? 1.0F : 1.0F / factor;
  if (!(factor >= 0.0F) || !(c.rope.freq_scale > 0.0F) || !std::isfinite(c.rope.freq_scale)) {
    in.refuse("rope.scaling.factor", "is not a positive number");
  }
  if (type == "linear") return;
  c.rope.yarn = {.share = positive("rope.scaling.yarn_ext_factor", 1.0F),
                 .n_ctx_train = static_cast<float>(
                     in.positive_or("rope.scaling.original_context_length", in.positive("context_length"))),
                 .fast_turns = positive("rope.scaling.yarn_beta_fast", 32.0F),
                 .slow_turns = positive("rope.scaling.yarn_beta_slow", 1.0F)};
  const auto weight = in.value_or<float>("rope.scaling.yarn_log_multiplier", 0.0F);
  c.rope.magnitude = yarn_magnitude(in, c.rope.freq_scale, 1.0F, weight);
}

/// The common part of every family's configuration.
/// @throws Error{bad_metadata} naming the key that is missing or out of range;
///         Error{unsupported_model} for a rope scaling that is not built
[[nodiscard]] inline Config read_common_config(const ConfigReader& in) {
  Config c;
  c.architecture = in.metadata().require<std::string_view>("general.architecture");
  const std::size_t n_blocks = in.positive("block_count");
  const auto n_predict = in.value_or<std::uint64_t>("nextn_predict_layers", 0);
  if (n_blocks > 4096) in.refuse("block_count", "is out of range: " + std::to_string(n_blocks));
  if (n_predict >= n_blocks) in.refuse("nextn_predict_layers", "leaves no block to run");
  c.n_layers = n_blocks - static_cast<std::size_t>(n_predict);
  c.n_embd = in.positive("embedding_length");
  c.n_heads = in.positive("attention.head_count");
  c.n_kv_heads = in.positive_or("attention.head_count_kv", c.n_heads);
  if (c.n_heads % c.n_kv_heads != 0) in.refuse("attention.head_count_kv", "does not divide attention.head_count");
  const std::size_t head_dim = c.n_embd / c.n_heads;
  c.key_dim = in.positive_or("attention.key_length", head_dim);
  c.value_dim = in.positive_or("attention.value_length", head_dim);
  c.rope.n_rot = in.positive_or("rope.dimension_count", c.key_dim);
  if (c.rope.n_rot % 2 != 0 || c.rope.n_rot > c.key_dim) {
    in.refuse("rope.dimension_count", "is odd or wider than a head");
  }
  c.rope.base = in.value_or<float>("rope.freq_base", 10000.0F);
  if (!(c.rope.base > 0.0F) || !std::isfinite(c.rope.base)) in.refuse("rope.freq_base", "is not a positive number");
  read_rope_scaling(in, c);
  c.rms_epsilon = in.require<float>("attention.layer_norm_rms_epsilon");
  if (!(c.rms_epsilon >= 0.0F) || !std::isfinite(c.rms_epsilon)) {
    in.refuse("attention.layer_norm_rms_epsilon", "is negative or not a number");
  }
  c.n_ctx_train = in.positive("context_length");
  c.n_experts = in.positive("expert_count");
  if (c.n_experts > 65536) in.refuse("expert_count", "is out of range: " + std::to_string(c.n_experts));
  c.n_experts_used = in.positive("expert_used_count");
  if (c.n_experts_used > c.n_experts) in.refuse("expert_used_count", "is larger than expert_count");
  // Missing, 0 and 1 all mean: do not scale.
  const auto scale = in.value_or<float>("expert_weights_scale", 0.0F);
  if (!(scale >= 0.0F) || !std::isfinite(scale)) in.refuse("expert_weights_scale", "is negative or not a number");
  c.router.scale = scale == 0.0F ? 1.0F : scale;
  return c;
}

/// Width of one expert: without a key of its own, a share of the dense width, as the Qwen families have it.
/// @throws Error{bad_metadata}
[[nodiscard]] inline std::size_t read_expert_width(const ConfigReader& in, const Config& c) {
  if (in.has("expert_feed_forward_length")) return in.positive("expert_feed_forward_length");
  const std::size_t width = in.positive("feed_forward_length") / c.n_experts_used;
  if (width == 0) in.refuse("feed_forward_length", "is smaller than expert_used_count");
  return width;
}

}  // namespace lazymoe::models
