#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "../gguf/file.hpp"
#include "attention_mla.hpp"
#include "config.hpp"
#include "deepseek_experts.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// DeepSeek V2, V3 and R1, Moonlight, Kimi-K2, GLM-4.7-Flash: latent attention, leading dense layers, then routed
/// experts beside a shared one.
/// @source DeepSeek-AI, "DeepSeek-V2", 2024, and "DeepSeek-V3", 2024; names of tensors and keys as the GGUF converter
///         of the reference writes them
struct Deepseek2 {
  static constexpr std::string_view name = "deepseek2";

  using Mixer = MlaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    read_attention(in, c);
    read_deepseek_experts(in, c, {});  // of the gating adapt_config() knows more
    return c;
  }

  /// What only the tensors say. Files of the first weeks of GLM-4.7-Flash, as of DeepSeek V2, say nothing about the
  /// scores: those that choose by a bias have sigmoids, and so does GLM by its size.
  static void adapt_config(const gguf::File& file, Config& c) {
    const auto first_routed = static_cast<LayerIndex>(c.n_dense_layers);
    c.selection_bias = file.find(block_prefix(first_routed) + "exp_probs_b.bias") != nullptr;
    if (ConfigReader(file.metadata()).value_or<std::uint64_t>("expert_gating_func", 0) != 0) return;
    const gguf::TensorInfo* embedding = file.find("token_embd.weight");
    const bool is_glm = (c.n_layers == 47 || c.n_layers == 48) && embedding != nullptr && embedding->rows() == 154880;
    c.router.gating = c.selection_bias || is_glm ? moe::Gating::sigmoid : moe::Gating::softmax;
  }

 private:
  static void read_attention(const ConfigReader& in, Config& c) {
    // Newer files give the sizes of the latent vector by the old names: a key of all heads, and a value of all heads.
    c.key_dim = in.positive_or("attention.key_length_mla", c.key_dim);
    c.value_dim = in.positive_or("attention.value_length_mla", c.value_dim);
    if (c.rope.n_rot >= c.key_dim) in.refuse("rope.dimension_count", "is not smaller than a head");
    c.rope.pairs = tensor::RopePairs::norm;
    c.latent.rank = in.positive("attention.kv_lora_rank");
    const auto query_rank = in.value_or<std::uint64_t>("attention.q_lora_rank", 0);
    c.latent.query_rank = query_rank == 0 ? 0 : in.positive("attention.q_lora_rank");
    read_temperature(in, c);
  }

  /// The family's scaling of positions warms up whole scores, not their rotated part alone; as the reference does,
  /// with every kind of scaling.
  static void read_temperature(const ConfigReader& in, Config& c) {
    const bool yarn = c.rope.yarn.share != 0.0F;
    const float weight = in.value_or<float>("rope.scaling.yarn_log_multiplier", 0.0F) / 0.1F;  // as converters write it
    if (yarn && weight != 0.0F) c.rope.magnitude = yarn_magnitude(in, c.rope.freq_scale, weight, weight);
    const float growth = 0.1F * std::log(1.0F / c.rope.freq_scale);
    const float temperature = c.rope.magnitude * (yarn ? 1.0F : 1.0F + growth) * (1.0F + weight * growth);
    c.score_scale = temperature * temperature / std::sqrt(static_cast<float>(c.key_dim));
    if (!(temperature > 0.0F) || !std::isfinite(c.score_scale)) {
      in.refuse("rope.scaling.yarn_log_multiplier", "is out of range");
    }
  }
};

}  // namespace lazymoe::models
