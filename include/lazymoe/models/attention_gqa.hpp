#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "../core/types.hpp"
#include "../parallel/thread_pool.hpp"
#include "../quant/packed_matrix.hpp"
#include "../simd/math.hpp"
#include "../simd/vector.hpp"
#include "../tensor/activations.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"
#include "../tensor/norm.hpp"
#include "../tensor/rope.hpp"
#include "config.hpp"
#include "detail/attention_heads.hpp"
#include "sequence.hpp"
#include "state.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// Scratch of attention, shared by all layers of a sequence.
struct GqaScratch {
  tensor::Activations inputs;
  tensor::Activations mixed_inputs;
  tensor::Matrix gated;    // [tokens, n_heads * 2 * key_dim]: each query, then its gate
  tensor::Matrix queries;  // [tokens, n_heads * key_dim]
  tensor::Matrix keys;     // [tokens, n_kv_heads * key_dim]
  tensor::Matrix values;   // [tokens, n_kv_heads * value_dim]
  tensor::Matrix mixed;    // [tokens, n_heads * value_dim]
};

/// Causal attention with grouped queries: query head h reads key and value head h / (n_heads / n_kv_heads). Queries and
/// keys may be normed before the rotation, and the heads' outputs may be gated. Every other layer may see a window alone.
///
/// @source Ainslie et al., "GQA", 2023
class GqaAttention {
 public:
  using State = KvCache;
  using Scratch = GqaScratch;

  [[nodiscard]] static KvCache new_state(const Config& c, const SequenceOptions& options) {
    return {{.n_layers = c.n_layers - c.recurrent_before(c.n_layers),
             .n_ctx = options.n_ctx,
             .key_width = c.n_kv_heads * c.key_dim,
             .value_width = c.n_kv_heads * c.value_dim},
            options.kv_type};
  }

  void bind(WeightBinder& binder, const Config& c, LayerIndex layer) {
    cache_layer_ = layer - static_cast<LayerIndex>(c.recurrent_before(layer));
    const std::string prefix = block_prefix(layer);
    const std::size_t q = c.n_heads * c.key_dim * (c.attention_gate ? 2 : 1);
    const std::size_t k = c.n_kv_heads * c.key_dim;
    const std::size_t v = c.n_kv_heads * c.value_dim;
    const bool biased = c.attention_biases != AttentionBiases::none;
    if (binder.has(prefix + "attn_qkv.weight")) {  // all three below each other
      const std::size_t all = q + k + v;
      binder.matrix_part(query_, prefix + "attn_qkv.weight", 0, q, all, c.n_embd);
      binder.matrix_part(key_, prefix + "attn_qkv.weight", q, k, all, c.n_embd);
      binder.matrix_part(value_, prefix + "attn_qkv.weight", q + k, v, all, c.n_embd);
      if (biased) {
        binder.vector_part(query_bias_, prefix + "attn_qkv.bias", 0, q, all);
        binder.vector_part(key_bias_, prefix + "attn_qkv.bias", q, k, all);
        binder.vector_part(value_bias_, prefix + "attn_qkv.bias", q + k, v, all);
      }
    } else {
      binder.matrix(query_, prefix + "attn_q.weight", q, c.n_embd);
      binder.matrix(key_, prefix + "attn_k.weight", k, c.n_embd);
      binder.matrix(value_, prefix + "attn_v.weight", v, c.n_embd);
      if (biased) {
        binder.vector(query_bias_, prefix + "attn_q.bias", q);
        binder.vector(key_bias_, prefix + "attn_k.bias", k);
        binder.vector(value_bias_, prefix + "attn_v.bias", v);
      }
    }
    binder.matrix(output_, prefix + "attn_output.weight", c.n_embd, c.n_heads * c.value_dim);
    if (c.attention_biases == AttentionBiases::all) binder.vector(output_bias_, prefix + "attn_output.bias", c.n_embd);
    const bool normed = c.head_norm == HeadNorm::heads_if_present ? binder.has(prefix + "attn_q_norm.weight")
                                                                  : c.head_norm != HeadNorm::none;
    if (normed) {
      const bool rows = c.head_norm == HeadNorm::rows;
      binder.vector(query_norm_, prefix + "attn_q_norm.weight", (rows ? c.n_heads : 1) * c.key_dim);
      binder.vector(key_norm_, prefix + "attn_k_norm.weight", (rows ? c.n_kv_heads : 1) * c.key_dim);
    }
    if (c.attention_sinks) binder.vector(sinks_, prefix + "attn_sinks.weight", c.n_heads);
    if (layer % 2 == 0) window_ = c.window;
  }

  /// Writes the keys and values of the batch's positions and attends to all positions up to each token's own.
  ///
  /// @shape x[tokens, n_embd], already normed -> out[tokens, n_embd]
  void run(const Config& c, const tensor::Rope& rope, const tensor::ConstRows& x, KvCache& cache, GqaScratch& s,
           parallel::ThreadPool& pool, tensor::Rows out) const {
    const std::size_t n = tensor::row_count(x);
    const auto rows = static_cast<Eigen::Index>(n);
    s.queries.resize(rows, static_cast<Eigen::Index>(c.n_heads * c.key_dim));
    s.keys.resize(rows, static_cast<Eigen::Index>(key_.rows));
    s.values.resize(rows, static_cast<Eigen::Index>(value_.rows));
    s.mixed.resize(rows, static_cast<Eigen::Index>(output_.cols));
    s.inputs.assign(x);
    if (c.attention_gate) {
      s.gated.resize(rows, static_cast<Eigen::Index>(query_.rows));
      tensor::matmul(query_, s.inputs, s.gated, pool);
      for (std::size_t t = 0; t < n; ++t) take_queries(c, tensor::row(s.gated, t), tensor::row(s.queries, t));
    } else {
      tensor::matmul(query_, s.inputs, s.queries, pool);
    }
    tensor::matmul(key_, s.inputs, s.keys, pool);
    tensor::matmul(value_, s.inputs, s.values, pool);
    add_bias(query_bias_, s.queries);
    add_bias(key_bias_, s.keys);
    add_bias(value_bias_, s.values);

    const std::size_t first = cache.length();
    tensor::Rows queries = s.queries;
    tensor::Rows keys = s.keys;
    pool.parallel_for(n, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const auto q = tensor::row(queries, t);
        const auto k = tensor::row(keys, t);
        if (!query_norm_.empty()) {
          tensor::rms_norm_heads(q, query_norm_, c.rms_epsilon);
          tensor::rms_norm_heads(k, key_norm_, c.rms_epsilon);
        }
        const auto angles = rope.angles(first + t);
        rope.rotate(q, c.key_dim, angles);
        rope.rotate(k, c.key_dim, angles);
        cache.write(cache_layer_, first + t, k, tensor::row(tensor::ConstRows(s.values), t));
      }
    });

    tensor::Rows mixed = s.mixed;
    attend(c, cache, queries, mixed, pool);
    if (c.attention_gate) {
      pool.parallel_for(n, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t t = begin; t < end; ++t) gate(c, tensor::row(s.gated, t), tensor::row(mixed, t));
      });
    }
    s.mixed_inputs.assign(s.mixed);
    tensor::matmul(output_, s.mixed_inputs, out, pool);
    add_bias(output_bias_, out);
  }

 private:
  static void add_bias(const std::vector<float>& bias, tensor::Rows y) {
    if (bias.empty()) return;
    for (std::size_t t = 0; t < tensor::row_count(y); ++t) simd::add(bias.data(), tensor::row(y, t).data(), bias.size());
  }

  static void take_queries(const Config& c, std::span<const float> gated, std::span<float> queries) {
    for (std::size_t h = 0; h < c.n_heads; ++h) {
      std::copy_n(gated.data() + 2 * h * c.key_dim, c.key_dim, queries.data() + h * c.key_dim);
    }
  }

  /// Heads whose output is gated have values as wide as keys.
  static void gate(const Config& c, std::span<const float> gated, std::span<float> mixed) {
    for (std::size_t h = 0; h < c.n_heads; ++h) {
      const float* gates = gated.data() + (2 * h + 1) * c.key_dim;
      float* head = mixed.data() + h * c.value_dim;
      for (std::size_t i = 0; i < c.value_dim; ++i) head[i] *= simd::sigmoid(gates[i]);
    }
  }

  /// All query heads that share one key and value head at once, so that each key and value is decoded once.
  void attend(const Config& c, const KvCache& cache, tensor::Rows queries, tensor::Rows mixed,
              parallel::ThreadPool& pool) const {
    const std::size_t n = tensor::row_count(queries);
    const std::size_t group = c.n_heads / c.n_kv_heads;
    const detail::AttentionHeads largest{
        .n_heads = group,
        .n_positions = cache.length() + n,
        .key_dim = c.key_dim,
        .value_dim = c.value_dim,
        .scale = c.score_scale != 0.0F ? c.score_scale : 1.0F / std::sqrt(static_cast<float>(c.key_dim))};
    detail::for_each_with_scratch(n * c.n_kv_heads, largest, pool, [&](std::size_t i, float* scratch) {
      const std::size_t t = i / c.n_kv_heads;
      const std::size_t kv_head = i % c.n_kv_heads;
      detail::AttentionHeads heads = largest;
      heads.n_positions = cache.length() + t + 1;
      heads.n_unseen = window_ != 0 && heads.n_positions > window_ ? heads.n_positions - window_ : 0;
      if (!sinks_.empty()) heads.sinks = sinks_.data() + kv_head * group;
      heads.run(
          [&](std::size_t first, std::size_t n_rows, float* decoded) {
            return cache.keys(cache_layer_, first, n_rows, kv_head * c.key_dim, c.key_dim, decoded);
          },
          [&](std::size_t first, std::size_t n_rows, float* decoded) {
            return cache.values(cache_layer_, first, n_rows, kv_head * c.value_dim, c.value_dim, decoded);
          },
          tensor::row(queries, t).data() + kv_head * group * c.key_dim,
          tensor::row(mixed, t).data() + kv_head * group * c.value_dim, scratch);
    });
  }

  LayerIndex cache_layer_ = 0;
  quant::PackedMatrix query_;
  quant::PackedMatrix key_;
  quant::PackedMatrix value_;
  quant::PackedMatrix output_;
  std::vector<float> query_bias_;  // empty: none
  std::vector<float> key_bias_;
  std::vector<float> value_bias_;
  std::vector<float> output_bias_;
  std::vector<float> query_norm_;  // empty: none
  std::vector<float> key_norm_;
  std::vector<float> sinks_;  // [n_heads], or none
  std::size_t window_ = 0;    // positions that are seen; 0: all
};

}  // namespace lazymoe::models
