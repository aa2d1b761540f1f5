#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config.hpp"
#include "delta_rule.hpp"
#include "hybrid_mixer.hpp"

namespace lazymoe::models {

/// Which layers are recurrent: as the file lists them, or all but every n-th.
[[nodiscard]] inline std::vector<bool> read_recurrent_layers(const ConfigReader& in, std::size_t n_layers) {
  if (in.has("attention.recurrent_layers")) return in.flags("attention.recurrent_layers", n_layers);
  const std::size_t interval = in.positive_or("full_attention_interval", 4);
  std::vector<bool> recurrent(n_layers);
  for (std::size_t i = 0; i < n_layers; ++i) recurrent[i] = (i + 1) % interval != 0;
  return recurrent;
}

/// @throws Error{bad_metadata}
[[nodiscard]] inline DeltaNetShape read_delta_net(const ConfigReader& in) {
  DeltaNetShape s;
  s.n_key_heads = in.positive("ssm.group_count");
  s.n_value_heads = in.positive("ssm.time_step_rank");
  s.head_dim = in.positive("ssm.state_size");
  s.n_taps = in.positive("ssm.conv_kernel");
  if (s.n_value_heads % s.n_key_heads != 0) in.refuse("ssm.time_step_rank", "is no multiple of ssm.group_count");
  if (in.positive("ssm.inner_size") != s.value_width()) {
    in.refuse("ssm.inner_size", "differs from ssm.time_step_rank times ssm.state_size");
  }
  if (s.head_dim % DeltaChunk::lanes != 0) {
    in.refuse("ssm.state_size", "is no multiple of " + std::to_string(DeltaChunk::lanes));
  }
  return s;
}

/// What qwen35moe and qwen3next have in common: three layers of DeltaNet, then one of gated attention, all with routed
/// experts and a gated shared one.
/// @throws Error{bad_metadata}
[[nodiscard]] inline Config read_hybrid_config(const gguf::Metadata& metadata) {
  const ConfigReader in(metadata);
  Config c = read_common_config(in);
  if (c.value_dim != c.key_dim) in.refuse("attention.value_length", "differs from attention.key_length");
  c.recurrent = read_recurrent_layers(in, c.n_layers);
  c.delta_net = read_delta_net(in);
  c.n_ff_expert = read_expert_width(in, c);
  c.n_ff_shared = in.positive(in.has("expert_shared_feed_forward_length") ? "expert_shared_feed_forward_length"
                                                                          : "feed_forward_length");
  c.shared_gate = true;
  c.ffn_norm = "post_attention_norm";
  c.head_norm = HeadNorm::heads;
  c.attention_gate = true;
  // The rotation of Qwen3.5 has an axis each for time, height and width: in text all three are the position.
  c.rope.pairs = tensor::RopePairs::neox;
  c.router.renormalise = true;  // always; no key says so
  return c;
}

/// Qwen3.5-35B-A3B and Qwen3.6-35B-A3B: a hybrid of DeltaNet and attention.
/// @source Qwen3.5 release, 2026; tensor names as the GGUF converter of the reference writes them
struct Qwen35Moe {
  static constexpr std::string_view name = "qwen35moe";

  using Mixer = HybridMixer;

  [[nodiscard]] static Config read_config(const gguf::Metadata& metadata) { return read_hybrid_config(metadata); }
};

}  // namespace lazymoe::models
