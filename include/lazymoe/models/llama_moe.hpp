#pragma once

#include <string_view>

#include "attention_gqa.hpp"
#include "config.hpp"

namespace lazymoe::models {

/// Mixtral 8x7B and 8x22B: llama with routed experts. Files name it llama, as they do dense models, which have no
/// experts and are refused.
/// @source Jiang et al., "Mixtral of Experts", 2024; tensor names as the GGUF converter of the reference writes them
struct LlamaMoe {
  static constexpr std::string_view name = "llama";

  using Mixer = GqaAttention;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) {
    const ConfigReader in(metadata);
    Config c = read_common_config(in);
    c.n_ff_expert = in.positive("feed_forward_length");
    c.rope.pairs = tensor::RopePairs::norm;
    c.router.renormalise = true;  // always; no key says so
    return c;
  }
};

}  // namespace lazymoe::models
