#pragma once

#include <string_view>

#include "../moe/router.hpp"
#include "../tensor/rope.hpp"
#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// Qwen3-30B-A3B and its kin: every layer is grouped-query attention with normed heads, then routed experts.
/// @source Qwen3 technical report, 2025; tensor names as the GGUF converter of the reference writes them
struct Qwen3Moe {
  static constexpr std::string_view name = "qwen3moe";

  using Attention = GqaAttention;
  using Router = moe::SoftmaxTopK;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    if (c.n_rot != c.key_dim) in.refuse("rope.dimension_count", "differs from attention.key_length");
    if (in.has("expert_feed_forward_length")) {
      c.n_ff_expert = in.positive("expert_feed_forward_length");
    } else {
      c.n_ff_expert = in.positive("feed_forward_length") / c.n_experts_used;
      if (c.n_ff_expert == 0) in.refuse("feed_forward_length", "is smaller than expert_used_count");
    }
    return c;
  }

  /// The chosen weights are always renormalised; no key says so.
  [[nodiscard]] static Router router(const Config& c) noexcept {
    return {.renormalise = true, .scale = c.expert_weights_scale};
  }

  [[nodiscard]] static tensor::RopeOptions rope(const Config& c) noexcept {
    return {.n_rot = c.n_rot, .base = c.rope_base, .freq_scale = c.rope_freq_scale, .pairs = tensor::RopePairs::neox};
  }
};

}  // namespace lazymoe::models
