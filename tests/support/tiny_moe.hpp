#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <lazymoe/gguf/writer.hpp>
#include <lazymoe/quant/encode.hpp>
#include <lazymoe/quant/registry.hpp>

namespace lazymoe::test {

/// Small numbers that are the same on every machine.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : state_(seed * 2 + 1) {}

  std::uint32_t bits() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>(state_ >> 33);
  }
  /// Uniform in [-1, 1).
  float value() { return static_cast<float>(bits()) * 0x1p-30F - 1.0F; }
  std::vector<float> values(std::size_t n, float factor = 1.0F) {
    std::vector<float> x(n);
    for (float& v : x) v = factor * value();
    return x;
  }

 private:
  std::uint64_t state_;
};

/// A model of the qwen3moe family with random weights, small enough to write in every test.
struct TinyMoe {
  std::size_t n_layers = 3;
  std::size_t n_embd = 32;
  std::size_t n_heads = 2;
  std::size_t n_kv_heads = 1;
  std::size_t head_dim = 16;
  std::size_t n_experts = 8;
  std::size_t n_used = 2;
  std::size_t n_ff = 32;
  std::size_t n_vocab = 40;
  std::size_t n_ctx = 256;
  bool tied = false;
  bool fused_gate_up = false;
  quant::TypeId expert_type = quant::TypeId::q8_0;
  quant::TypeId first_down_type = quant::TypeId::q8_0;  ///< of layer 0: layers of two sizes if it differs
  quant::TypeId dense_type = quant::TypeId::f32;
  float sublayer_spread = 1.0F;  ///< how much attention and experts add to the residual stream
  std::uint64_t seed = 1;

  [[nodiscard]] gguf::Writer writer() const {
    gguf::Writer w;
    const auto u32 = [&](const char* key, std::size_t value) {
      w.set(std::string("qwen3moe.") + key, static_cast<std::uint32_t>(value));
    };
    w.set("general.architecture", "qwen3moe");
    u32("block_count", n_layers);
    u32("context_length", n_ctx);
    u32("embedding_length", n_embd);
    u32("attention.head_count", n_heads);
    u32("attention.head_count_kv", n_kv_heads);
    u32("attention.key_length", head_dim);
    u32("attention.value_length", head_dim);
    u32("expert_count", n_experts);
    u32("expert_used_count", n_used);
    u32("expert_feed_forward_length", n_ff);
    w.set("qwen3moe.attention.layer_norm_rms_epsilon", 1e-6F);
    w.set("tokenizer.ggml.model", "no_vocab");

    Noise noise(seed);
    const auto add = [&](const std::string& name, std::vector<std::uint64_t> dims, quant::TypeId type, float factor) {
      std::size_t n = 1;
      for (const auto d : dims) n *= d;
      w.add_tensor(name, dims, type, packed(noise.values(n, factor), type));
    };
    const auto norm = [&](const std::string& name, std::size_t n) {
      std::vector<float> x = noise.values(n, 0.2F);
      for (float& v : x) v += 1.0F;
      w.add_tensor(name, {n}, quant::TypeId::f32, packed(x, quant::TypeId::f32));
    };
    const float spread = 2.0F / std::sqrt(static_cast<float>(n_embd));
    add("token_embd.weight", {n_embd, n_vocab}, dense_type, 1.0F);
    norm("output_norm.weight", n_embd);
    if (!tied) add("output.weight", {n_embd, n_vocab}, dense_type, spread);
    for (std::size_t i = 0; i < n_layers; ++i) {
      const std::string p = "blk." + std::to_string(i) + ".";
      norm(p + "attn_norm.weight", n_embd);
      add(p + "attn_q.weight", {n_embd, n_heads * head_dim}, dense_type, spread);
      add(p + "attn_k.weight", {n_embd, n_kv_heads * head_dim}, dense_type, spread);
      add(p + "attn_v.weight", {n_embd, n_kv_heads * head_dim}, dense_type, spread);
      add(p + "attn_output.weight", {n_heads * head_dim, n_embd}, dense_type, spread * sublayer_spread);
      norm(p + "attn_q_norm.weight", head_dim);
      norm(p + "attn_k_norm.weight", head_dim);
      norm(p + "ffn_norm.weight", n_embd);
      add(p + "ffn_gate_inp.weight", {n_embd, n_experts}, quant::TypeId::f32, 2.0F * spread);
      if (fused_gate_up) {
        add(p + "ffn_gate_up_exps.weight", {n_embd, 2 * n_ff, n_experts}, expert_type, spread);
      } else {
        add(p + "ffn_gate_exps.weight", {n_embd, n_ff, n_experts}, expert_type, spread);
        add(p + "ffn_up_exps.weight", {n_embd, n_ff, n_experts}, expert_type, spread);
      }
      add(p + "ffn_down_exps.weight", {n_ff, n_embd, n_experts}, i == 0 ? first_down_type : expert_type,
          2.0F * spread * sublayer_spread);
    }
    return w;
  }

  /// Writes the model into `directory`.
  [[nodiscard]] std::filesystem::path write(const std::filesystem::path& directory,
                                            const std::string& name = "tiny.gguf") const {
    const auto path = directory / name;
    writer().write(path);
    return path;
  }

  /// `x` in the format `type`, as a file holds it; for the formats that quant/encode.hpp writes.
  [[nodiscard]] static std::vector<std::byte> packed(std::span<const float> x, quant::TypeId type) {
    std::vector<std::byte> bytes(quant::row_bytes(type, x.size()));
    quant::encode_row(type, x, bytes);
    return bytes;
  }
};

}  // namespace lazymoe::test
