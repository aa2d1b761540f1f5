#pragma once

#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// gpt-oss 20B and 120B: attention with biases and a sink in every head, every other layer within a window; experts with
/// biases, chosen by their logits.
/// @source OpenAI, gpt-oss model card, 2025; tensor names as the GGUF converter of the reference writes them
struct GptOss {
  static constexpr std::string_view name = "gpt-oss";

  using Mixer = GqaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    c.n_ff_expert = in.positive("expert_feed_forward_length");
    c.attention_biases = AttentionBiases::all;
    c.attention_sinks = true;
    c.window = in.positive("attention.sliding_window");
    c.ffn_norm = "post_attention_norm";
    c.rope.pairs = tensor::RopePairs::neox;
    c.expert_biases = true;
    c.activation = moe::Activation::clamped_swiglu;
    c.router.gating = moe::Gating::softmax_of_chosen;
    c.router.renormalise = false;
    return c;
  }
};

}  // namespace lazymoe::models
