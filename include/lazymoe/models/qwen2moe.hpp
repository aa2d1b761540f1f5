#pragma once

#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// Qwen1.5-MoE-A2.7B and Qwen2-57B-A14B: attention with biases, routed experts whose weights keep their share of all,
/// and a shared expert behind a sigmoid gate.
/// @source Qwen Team, "Qwen1.5-MoE", 2024; tensor names as the GGUF converter of the reference writes them
struct Qwen2Moe {
  static constexpr std::string_view name = "qwen2moe";

  using Mixer = GqaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    c.n_ff_expert = read_expert_width(in, c);
    c.n_ff_shared = in.has("expert_shared_feed_forward_length") ? in.positive("expert_shared_feed_forward_length")
                                                                : in.positive("feed_forward_length");
    c.attention_biases = AttentionBiases::inputs;
    c.shared_gate = true;
    c.rope.pairs = tensor::RopePairs::neox;
    c.router.renormalise = false;  // never; no key says so
    return c;
  }
};

}  // namespace lazymoe::models
