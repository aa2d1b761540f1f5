#pragma once

#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"
#include "deepseek_experts.hpp"

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
    read_deepseek_experts(in, c, {.n_shared = 1, .gating = moe::Gating::sigmoid});
    c.selection_bias = true;
    c.attention_biases = AttentionBiases::inputs;
    c.head_norm = HeadNorm::heads_if_present;  // the largest model has them
    c.ffn_norm = "post_attention_norm";
    c.rope.pairs = tensor::RopePairs::neox;
    return c;
  }
};

}  // namespace lazymoe::models
