#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <lazymoe/gguf/writer.hpp>

#include "support/tiny_moe.hpp"

namespace lazymoe::test {

/// A model of the qwen35moe family with random weights: a layer of DeltaNet, then one of attention, and so on.
struct TinyHybrid {
  std::size_t n_layers = 4;
  std::size_t n_embd = 32;
  std::size_t n_vocab = 40;
  std::size_t n_ctx = 4096;
  std::uint64_t seed = 1;

  /// Writes the model into `directory`.
  [[nodiscard]] std::filesystem::path write(const std::filesystem::path& directory,
                                            const std::string& name = "hybrid.gguf") const {
    constexpr std::size_t n_heads = 2, head_dim = 16, n_experts = 4, n_ff = 32;
    constexpr std::size_t n_key_heads = 1, n_value_heads = 2, state_dim = 16, n_taps = 4;
    constexpr std::size_t n_channels = (2 * n_key_heads + n_value_heads) * state_dim;
    gguf::Writer w;
    const auto u32 = [&](const char* key, std::size_t value) {
      w.set(std::string("qwen35moe.") + key, static_cast<std::uint32_t>(value));
    };
    w.set("general.architecture", "qwen35moe");
    u32("block_count", n_layers);
    u32("context_length", n_ctx);
    u32("embedding_length", n_embd);
    u32("attention.head_count", n_heads);
    u32("attention.head_count_kv", 1);
    u32("attention.key_length", head_dim);
    u32("attention.value_length", head_dim);
    u32("rope.dimension_count", head_dim / 2);
    u32("expert_count", n_experts);
    u32("expert_used_count", 2);
    u32("expert_feed_forward_length", n_ff);
    u32("expert_shared_feed_forward_length", n_ff);
    u32("full_attention_interval", 2);
    u32("ssm.group_count", n_key_heads);
    u32("ssm.time_step_rank", n_value_heads);
    u32("ssm.state_size", state_dim);
    u32("ssm.conv_kernel", n_taps);
    u32("ssm.inner_size", n_value_heads * state_dim);
    w.set("qwen35moe.attention.layer_norm_rms_epsilon", 1e-6F);
    w.set("tokenizer.ggml.model", "no_vocab");

    Noise noise(seed);
    const auto add = [&](const std::string& tensor, std::vector<std::uint64_t> dims, float factor, float mean = 0.0F) {
      std::size_t n = 1;
      for (const auto d : dims) n *= static_cast<std::size_t>(d);
      std::vector<float> x = noise.values(n, factor);
      for (float& v : x) v += mean;
      w.add_tensor(tensor, dims, quant::TypeId::f32, TinyMoe::packed(x, quant::TypeId::f32));
    };
    const float spread = 2.0F / std::sqrt(static_cast<float>(n_embd));
    const auto ffn = [&](const std::string& prefix, const std::string& suffix, std::vector<std::uint64_t> experts) {
      const auto dims = [&](std::uint64_t in, std::uint64_t out) {
        std::vector<std::uint64_t> d{in, out};
        d.insert(d.end(), experts.begin(), experts.end());
        return d;
      };
      add(prefix + "ffn_gate" + suffix, dims(n_embd, n_ff), spread);
      add(prefix + "ffn_up" + suffix, dims(n_embd, n_ff), spread);
      add(prefix + "ffn_down" + suffix, dims(n_ff, n_embd), spread);
    };
    add("token_embd.weight", {n_embd, n_vocab}, 1.0F);
    add("output_norm.weight", {n_embd}, 0.2F, 1.0F);
    add("output.weight", {n_embd, n_vocab}, spread);
    for (std::size_t i = 0; i < n_layers; ++i) {
      const std::string p = "blk." + std::to_string(i) + ".";
      add(p + "attn_norm.weight", {n_embd}, 0.2F, 1.0F);
      if (i % 2 == 1) {
        add(p + "attn_q.weight", {n_embd, 2 * n_heads * head_dim}, spread);
        add(p + "attn_k.weight", {n_embd, head_dim}, spread);
        add(p + "attn_v.weight", {n_embd, head_dim}, spread);
        add(p + "attn_output.weight", {n_heads * head_dim, n_embd}, spread);
        add(p + "attn_q_norm.weight", {head_dim}, 0.2F, 1.0F);
        add(p + "attn_k_norm.weight", {head_dim}, 0.2F, 1.0F);
      } else {
        add(p + "attn_qkv.weight", {n_embd, n_channels}, spread);
        add(p + "attn_gate.weight", {n_embd, n_value_heads * state_dim}, spread);
        add(p + "ssm_conv1d.weight", {n_taps, n_channels}, 0.6F);
        add(p + "ssm_dt.bias", {n_value_heads}, 1.0F, -1.0F);
        add(p + "ssm_a", {n_value_heads}, 0.2F, -0.3F);
        add(p + "ssm_alpha.weight", {n_embd, n_value_heads}, spread);
        add(p + "ssm_beta.weight", {n_embd, n_value_heads}, spread);
        add(p + "ssm_norm.weight", {state_dim}, 0.2F, 1.0F);
        add(p + "ssm_out.weight", {n_value_heads * state_dim, n_embd}, spread);
      }
      add(p + "post_attention_norm.weight", {n_embd}, 0.2F, 1.0F);
      add(p + "ffn_gate_inp.weight", {n_embd, n_experts}, 2.0F * spread);
      ffn(p, "_exps.weight", {n_experts});
      ffn(p, "_shexp.weight", {});
      add(p + "ffn_gate_inp_shexp.weight", {n_embd}, spread);
    }
    const auto path = directory / name;
    w.write(path);
    return path;
  }
};

}  // namespace lazymoe::test
