#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../core/types.hpp"
#include "../parallel/thread_pool.hpp"
#include "../quant/packed_matrix.hpp"
#include "../tensor/activations.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"
#include "../tensor/norm.hpp"
#include "../tensor/rope.hpp"
#include "config.hpp"
#include "detail/attention_heads.hpp"
#include "detail/unsplit_heads.hpp"
#include "latent_cache.hpp"
#include "sequence.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// Scratch of latent attention, shared by all layers of a sequence.
struct MlaScratch {
  tensor::Activations inputs;
  tensor::Activations compressed_inputs;
  tensor::Activations head_inputs;
  tensor::Activations mixed_inputs;
  tensor::Matrix compressed;        // [tokens, query_rank]
  tensor::Matrix queries;           // [tokens, n_heads * key_dim]
  tensor::Matrix latents;           // [tokens, rank + n_rot]
  tensor::Matrix absorbed;          // [tokens, n_heads * (rank + n_rot)]: queries that meet cached vectors as they are
  tensor::Matrix sums;              // [tokens, n_heads * rank]: of cached vectors
  tensor::Matrix mixed;             // [tokens, n_heads * value_dim]
  std::vector<std::uint32_t> rows;  // [n_heads, tokens]: row t * n_heads + h
};

/// Multi-head latent attention. Of each token one vector is kept, [latent | rotated key part], whatever the number of
/// heads; a head's keys and values are products with it. They are never formed: the head's key matrix is applied to
/// the query, and its value matrix to the weighted sum of the cached vectors ("absorbed").
///
/// Two layouts of files: `attn_k_b` and `attn_v_b`, or, older, both in `attn_kv_b`. Of the latter the reference forms
/// keys and values after all, from rounded latent vectors; so these are rounded before they are kept, and the results
/// differ by roundings of floats alone.
///
/// @source DeepSeek-AI, "DeepSeek-V2", 2024, section 2.1 and appendix C
class MlaAttention {
 public:
  using State = LatentCache;
  using Scratch = MlaScratch;

  [[nodiscard]] static LatentCache new_state(const Config& c, const SequenceOptions& options) {
    return {c.n_layers, options.n_ctx, c.latent.rank + c.rope.n_rot, options.kv_type};
  }

  void bind(WeightBinder& binder, const Config& c, LayerIndex layer) {
    layer_ = layer;
    const std::size_t rank = c.latent.rank;
    const std::size_t plain_dim = c.key_dim - c.rope.n_rot;
    const std::string prefix = block_prefix(layer) + "attn_";
    if (c.latent.query_rank != 0) {
      binder.matrix(query_down_, prefix + "q_a.weight", c.latent.query_rank, c.n_embd);
      binder.vector(query_norm_, prefix + "q_a_norm.weight", c.latent.query_rank);
      binder.matrix(query_, prefix + "q_b.weight", c.n_heads * c.key_dim, c.latent.query_rank);
    } else {
      binder.matrix(query_, prefix + "q.weight", c.n_heads * c.key_dim, c.n_embd);
    }
    binder.matrix(latent_, prefix + "kv_a_mqa.weight", rank + c.rope.n_rot, c.n_embd);
    binder.vector(latent_norm_, prefix + "kv_a_norm.weight", rank);
    const std::string both = prefix + "kv_b.weight";
    unsplit_ = binder.has(both) && !binder.has(prefix + "k_b.weight");
    if (unsplit_) {
      binder.matrix(key_value_, both, c.n_heads * (plain_dim + c.value_dim), rank);
    } else {
      binder.head_matrices(key_, prefix + "k_b.weight", c.n_heads, rank, plain_dim);
      binder.head_matrices(value_, prefix + "v_b.weight", c.n_heads, c.value_dim, rank);
      if (binder.has(both)) binder.ignore(both);  // some files have the same weights in both layouts
    }
    binder.matrix(output_, prefix + "output.weight", c.n_embd, c.n_heads * c.value_dim);
  }

  /// Writes the latent vectors of the batch's positions and attends to all positions up to each token's own.
  ///
  /// @shape x[tokens, n_embd], already normed -> out[tokens, n_embd]
  void run(const Config& c, const tensor::Rope& rope, const tensor::ConstRows& x, LatentCache& cache, MlaScratch& s,
           parallel::ThreadPool& pool, tensor::Rows out) const {
    const std::size_t n = tensor::row_count(x);
    resize(c, n, s);
    s.inputs.assign(x);
    if (c.latent.query_rank != 0) {
      tensor::matmul(query_down_, s.inputs, s.compressed, pool);
      tensor::rms_norm(s.compressed, query_norm_, c.rms_epsilon, s.compressed);
      s.compressed_inputs.assign(s.compressed);
      tensor::matmul(query_, s.compressed_inputs, s.queries, pool);
    } else {
      tensor::matmul(query_, s.inputs, s.queries, pool);
    }
    tensor::matmul(latent_, s.inputs, s.latents, pool);

    const std::size_t first = cache.length();
    pool.parallel_for(n, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const auto angles = rope.angles(first + t);
        const auto latent = tensor::row(s.latents, t);
        const auto plain = latent.first(c.latent.rank);
        tensor::rms_norm(plain, latent_norm_, c.rms_epsilon, plain);
        if (unsplit_) detail::round_as_activation(tensor::activation_kind(key_value_.type), plain);
        rope.rotate(latent.subspan(c.latent.rank), c.rope.n_rot, angles);
        cache.write(layer_, first + t, latent);
        rotate_queries(c, rope, angles, tensor::row(s.queries, t), tensor::row(s.absorbed, t));
      }
    });
    absorb_keys(c, s, pool);
    attend(c, cache, s, pool);
    apply_values(c, s, pool);
    s.mixed_inputs.assign(s.mixed);
    tensor::matmul(output_, s.mixed_inputs, out, pool);
  }

 private:
  void resize(const Config& c, std::size_t n, MlaScratch& s) const {
    const auto index = [](std::size_t i) { return static_cast<Eigen::Index>(i); };
    s.compressed.resize(index(n), index(c.latent.query_rank));
    s.queries.resize(index(n), index(c.n_heads * c.key_dim));
    s.latents.resize(index(n), index(c.latent.rank + c.rope.n_rot));
    s.absorbed.resize(index(n), index(c.n_heads * (c.latent.rank + c.rope.n_rot)));
    s.sums.resize(index(n), index(c.n_heads * c.latent.rank));
    s.mixed.resize(index(n), index(c.n_heads * c.value_dim));
    s.rows.resize(c.n_heads * n);
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
      s.rows[i] = static_cast<std::uint32_t>(i % n * c.n_heads + i / n);
    }
  }

  /// The rotated part of each query goes behind the place of its absorbed part.
  static void rotate_queries(const Config& c, const tensor::Rope& rope, const tensor::Rope::Angles& angles,
                             std::span<const float> queries, std::span<float> absorbed) {
    const std::size_t n_rot = c.rope.n_rot;
    for (std::size_t h = 0; h < c.n_heads; ++h) {
      const auto to = absorbed.subspan((h + 1) * (c.latent.rank + n_rot) - n_rot, n_rot);
      std::copy_n(queries.data() + (h + 1) * c.key_dim - n_rot, n_rot, to.data());
      rope.rotate(to, n_rot, angles);
    }
  }

  /// The absorbed part of each query: the head's key matrix times the part of the query that is not rotated.
  void absorb_keys(const Config& c, MlaScratch& s, parallel::ThreadPool& pool) const {
    const std::size_t plain_dim = c.key_dim - c.rope.n_rot;
    const std::size_t width = c.latent.rank + c.rope.n_rot;
    if (unsplit_) {
      unsplit(c).absorb_keys(tensor::row_count(s.queries), {s.queries.data(), c.n_heads * c.key_dim, c.key_dim},
                             {s.absorbed.data(), c.n_heads * width, width}, pool);
      return;
    }
    s.head_inputs.assign(heads_of(s.queries, c.n_heads, plain_dim));
    multiply_heads(c.n_heads, key_, s, pool,
                   [&](std::size_t h) { return columns(s.absorbed, h * width, c.latent.rank); });
  }

  /// The weighted sums of cached vectors, for each token and head.
  void attend(const Config& c, const LatentCache& cache, MlaScratch& s, parallel::ThreadPool& pool) const {
    const std::size_t n = s.rows.size() / c.n_heads;
    // A group of heads decodes a cached vector once; but all threads shall have work.
    const std::size_t least_groups = (std::size_t{2} * pool.size() + n - 1) / n;
    const std::size_t group = std::clamp<std::size_t>(c.n_heads / least_groups, 1, 8);
    const std::size_t n_groups = (c.n_heads + group - 1) / group;
    const std::size_t n_items = n * n_groups;
    const float scale = c.score_scale != 0.0F ? c.score_scale : 1.0F / std::sqrt(static_cast<float>(c.key_dim));
    const detail::AttentionHeads largest{.n_heads = group,
                                         .n_positions = cache.length() + n,
                                         .key_dim = cache.width(),
                                         .value_dim = c.latent.rank,
                                         .scale = scale};
    detail::for_each_with_scratch(n_items, largest, pool, [&](std::size_t i, float* scratch) {
      const std::size_t t = i / n_groups;
      const std::size_t head = i % n_groups * group;
      detail::AttentionHeads heads = largest;
      heads.n_heads = std::min(group, c.n_heads - head);
      heads.n_positions = cache.length() + t + 1;
      // A latent vector is the key, and its leading part the value.
      const auto vectors = [&](std::size_t n_elems) {
        return [&, n_elems](std::size_t first, std::size_t n_rows, float* decoded) {
          return cache.get(layer_, first, n_rows, n_elems, decoded);
        };
      };
      heads.run(vectors(cache.width()), vectors(c.latent.rank), tensor::row(s.absorbed, t).data() + head * cache.width(),
                tensor::row(s.sums, t).data() + head * c.latent.rank, scratch);
    });
  }

  /// The output of each head: its value matrix times its sum of cached vectors.
  void apply_values(const Config& c, MlaScratch& s, parallel::ThreadPool& pool) const {
    if (unsplit_) {
      unsplit(c).apply_values(tensor::row_count(s.sums), {s.sums.data(), c.n_heads * c.latent.rank, c.latent.rank},
                              {s.mixed.data(), c.n_heads * c.value_dim, c.value_dim}, pool);
      return;
    }
    s.head_inputs.assign(heads_of(s.sums, c.n_heads, c.latent.rank));
    multiply_heads(c.n_heads, value_, s, pool,
                   [&](std::size_t h) { return columns(s.mixed, h * c.value_dim, c.value_dim); });
  }

  [[nodiscard]] detail::UnsplitHeads unsplit(const Config& c) const {
    return {
        .both = &key_value_, .n_heads = c.n_heads, .n_key_rows = c.key_dim - c.rope.n_rot, .n_value_rows = c.value_dim};
  }

  /// out(h)[tokens, rows of a head] = the head's matrix times its inputs, for each head h.
  template <class Out>
  static void multiply_heads(std::size_t n_heads, const quant::PackedMatrix& w, MlaScratch& s,
                             parallel::ThreadPool& pool, Out&& out) {
    s.head_inputs.prepare(tensor::activation_kind(w.type), pool);
    const std::size_t n_tokens = s.rows.size() / n_heads;
    const std::size_t n = w.rows / n_heads;
    pool.parallel_for(w.rows, tensor::row_grain(w), [&](std::size_t begin, std::size_t end) {
      while (begin < end) {
        const std::size_t h = begin / n;
        const std::size_t stop = std::min(end, (h + 1) * n);
        tensor::Rows y = out(h);
        tensor::multiply_rows(w.rows_view(h * n, n), s.head_inputs,
                              std::span<const std::uint32_t>(s.rows).subspan(h * n_tokens, n_tokens), begin - h * n,
                              stop - h * n, y);
        begin = stop;
      }
    });
  }

  /// The first `n` numbers of every head of every token, as rows.
  [[nodiscard]] static Eigen::Map<const tensor::Matrix, 0, Eigen::OuterStride<>> heads_of(const tensor::Matrix& x,
                                                                                          std::size_t n_heads,
                                                                                          std::size_t n) {
    const Eigen::Index rows = x.rows() * static_cast<Eigen::Index>(n_heads);
    return {x.data(), rows, static_cast<Eigen::Index>(n),
            Eigen::OuterStride<>(x.cols() / static_cast<Eigen::Index>(n_heads))};
  }

  [[nodiscard]] static tensor::Rows columns(tensor::Matrix& x, std::size_t first, std::size_t n) {
    return x.middleCols(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(n));
  }

  LayerIndex layer_ = 0;
  bool unsplit_ = false;
  quant::PackedMatrix query_down_;
  quant::PackedMatrix query_;
  quant::PackedMatrix latent_;
  quant::PackedMatrix key_;        // of each head [rank, plain_dim]
  quant::PackedMatrix value_;      // of each head [value_dim, rank]
  quant::PackedMatrix key_value_;  // unsplit, see detail::UnsplitHeads
  quant::PackedMatrix output_;
  std::vector<float> query_norm_;
  std::vector<float> latent_norm_;
};

}  // namespace lazymoe::models
