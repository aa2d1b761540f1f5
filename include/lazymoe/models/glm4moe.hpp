#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// GLM-4.5, 4.6 and 4.7 (not Flash): attention with biases, of whose heads one half is rotated, and experts as
/// DeepSeek-V3 has them.
/// @source GLM-4.5 Team, "GLM-4.5", 2025; tensor names as the GGUF converter of the reference writes them
struct Glm4Moe {
  static constexpr std::string_view name = "glm4moe";

  using Mixer = GqaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    c.n_dense_layers = in.value_or<std::uint32_t>("leading_dense_block_count", 0);
    c.n_ff_dense = in.positive("feed_forward_length");
    c.n_ff_expert = in.positive("expert_feed_forward_length");
    c.n_ff_shared = c.n_ff_expert * in.value_or<std::uint32_t>("expert_shared_count", 1);
    const auto gating = in.value_or<std::uint32_t>("expert_gating_func", 2);
    if (gating != 1 && gating != 2) in.refuse("expert_gating_func", "is " + std::to_string(gating));
    c.router.gating = static_cast<moe::Gating>(gating);
    c.router.renormalise = in.value_or<bool>("expert_weights_norm", false);
    c.selection_bias = true;
    c.attention_biases = AttentionBiases::inputs;
    c.head_norm = HeadNorm::heads_if_present;  // the largest model has them
    c.ffn_norm = "post_attention_norm";
    c.rope.pairs = tensor::RopePairs::neox;
    return c;
  }
};

}  // namespace lazymoe::models
