#pragma once

#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// OLMoE-1B-7B: attention whose queries and keys are normed over all heads, then routed experts whose weights keep
/// their share of all.
/// @source Muennighoff et al., "OLMoE", 2024; tensor names as the GGUF converter of the reference writes them
struct Olmoe {
  static constexpr std::string_view name = "olmoe";

  using Mixer = GqaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    if (in.has("attention.clamp_kqv")) in.refuse("attention.clamp_kqv", "is not supported");
    c.n_ff_expert = in.positive("feed_forward_length");
    c.head_norm = HeadNorm::rows;
    c.rope.pairs = tensor::RopePairs::neox;
    c.router.renormalise = false;  // never; no key says so
    return c;
  }
};

}  // namespace lazymoe::models
