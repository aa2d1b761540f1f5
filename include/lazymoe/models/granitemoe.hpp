#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// Granite 3 MoE: embeddings, scores, what sublayers add, and logits are each multiplied by a number of the file.
/// @source IBM, "Granite 3.0 Language Models", 2024; tensor names as the GGUF converter of the reference writes them
struct GraniteMoe {
  static constexpr std::string_view name = "granitemoe";

  using Mixer = GqaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    c.n_ff_expert = in.positive("feed_forward_length");
    c.n_ff_shared = in.value_or<std::uint32_t>("expert_shared_feed_forward_length", 0);
    c.embedding_scale = factor(in, "embedding_scale");
    c.residual_scale = factor(in, "residual_scale");
    c.score_scale = in.has("attention.scale") ? factor(in, "attention.scale") : 0.0F;
    c.logit_scale = 1.0F / factor(in, "logit_scale");
    c.rope.pairs = tensor::RopePairs::norm;
    c.router.renormalise = true;  // always; no key says so
    return c;
  }

 private:
  [[nodiscard]] static float factor(const ConfigReader& in, std::string_view key) {
    const auto value = in.value_or<float>(key, 1.0F);
    if (!(value > 0.0F) || !std::isfinite(value)) in.refuse(key, "is not a positive number");
    return value;
  }
};

}  // namespace lazymoe::models
