#pragma once

#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// Qwen3-30B-A3B and its kin: every layer is grouped-query attention with normed heads, then routed experts.
/// @source Qwen3 technical report, 2025; tensor names as the GGUF converter of the reference writes them
struct Qwen3Moe {
  static constexpr std::string_view name = "qwen3moe";

  using Mixer = GqaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    if (c.rope.n_rot != c.key_dim) in.refuse("rope.dimension_count", "differs from attention.key_length");
    c.n_ff_expert = read_expert_width(in, c);
    c.head_norm = HeadNorm::heads;
    c.rope.pairs = tensor::RopePairs::neox;
    c.router.renormalise = true;  // always; no key says so
    return c;
  }
};

}  // namespace lazymoe::models
