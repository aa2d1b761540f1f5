#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <vector>

#include "../core/types.hpp"
#include "../moe/dense_ffn.hpp"
#include "../moe/route_guesses.hpp"
#include "../moe/routed_ffn.hpp"
#include "../parallel/thread_pool.hpp"
#include "../simd/math.hpp"
#include "../simd/vector.hpp"
#include "../store/source.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/dot.hpp"
#include "config.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// Scratch of feed-forwards, shared by all layers of a sequence.
struct FeedForwardScratch {
  moe::RoutedFfn routed;
  moe::RouteGuesses guesses;
  moe::DenseFfn::Scratch dense;
  tensor::Activations inputs;
  tensor::Matrix shared;  // [tokens, n_embd]
};

/// The feed-forward of one layer: dense in the leading layers of some families, else routed experts, with a shared
/// expert beside them if the family has one.
class FeedForward {
 public:
  void bind(WeightBinder& binder, const Config& c, LayerIndex layer) {
    const std::string prefix = block_prefix(layer) + "ffn_";
    routed_ = layer >= c.n_dense_layers;
    if (!routed_) {
      bind(binder, dense_, prefix, "", c.n_ff_dense, c.n_embd);
      return;
    }
    binder.matrix(router_.gate_inp, prefix + "gate_inp.weight", c.n_experts, c.n_embd);
    if (c.selection_bias) binder.vector(router_.selection_bias, block_prefix(layer) + "exp_probs_b.bias", c.n_experts);
    binder.experts(block_prefix(layer), c.n_experts, c.n_ff_expert, c.n_embd);
    if (c.expert_biases) {
      binder.vector(router_.bias, prefix + "gate_inp.bias", c.n_experts);
      binder.table(biases_.gate, prefix + "gate_exps.bias", c.n_experts, c.n_ff_expert);
      binder.table(biases_.up, prefix + "up_exps.bias", c.n_experts, c.n_ff_expert);
      binder.table(biases_.down, prefix + "down_exps.bias", c.n_experts, c.n_embd);
    }
    if (c.n_ff_shared == 0) return;
    bind(binder, dense_, prefix, "_shexp", c.n_ff_shared, c.n_embd);
    if (c.shared_gate) binder.vector(shared_gate_, prefix + "gate_inp_shexp.weight", c.n_embd);
  }

  /// @param  meanwhile is called, if the layer has experts, when the reads of those that are missing have begun
  /// @shape  x[tokens, n_embd], already normed -> out[tokens, n_embd]
  /// @throws Error{io} if an expert cannot be read
  template <std::invocable Meanwhile>
  void run(LayerIndex layer, const Config& c, const tensor::ConstRows& x, std::size_t first_position,
           store::ExpertSource& experts, FeedForwardScratch& s, parallel::ThreadPool& pool, Meanwhile&& meanwhile,
           tensor::Rows out) const {
    if (!routed_) {
      s.inputs.assign(x);
      dense_.run(s.inputs, s.dense, pool, out);
      return;
    }
    const moe::ExpertKind kind{.activation = c.activation, .biases = c.expert_biases ? &biases_ : nullptr};
    const auto run_shared = [&] {
      meanwhile();
      if (c.n_ff_shared != 0) compute_shared(c, x, s, pool);
    };
    s.routed.run(layer, c.router, c.n_experts_used, router_, kind, x, first_position, experts, pool, run_shared, out);
    if (c.n_ff_shared == 0) return;
    for (std::size_t t = 0; t < tensor::row_count(x); ++t) {
      simd::add(tensor::row(s.shared, t).data(), tensor::row(out, t).data(), c.n_embd);
    }
  }

  /// Tells `experts` which of them this layer would choose if `x` were its input: those that most tokens choose first.
  ///
  /// @param width experts a token; 0: as many as the layer uses
  /// @shape x[tokens, n_embd], already normed
  void expect(LayerIndex layer, const Config& c, const tensor::ConstRows& x, std::size_t width,
              store::ExpertSource& experts, FeedForwardScratch& s, parallel::ThreadPool& pool) const {
    if (routed_) s.guesses.run(layer, c.router, width == 0 ? c.n_experts_used : width, router_, x, experts, pool);
  }

 private:
  static void bind(WeightBinder& binder, moe::DenseFfn& ffn, const std::string& prefix, const std::string& suffix,
                   std::size_t n_ff, std::size_t n_embd) {
    binder.matrix(ffn.gate, prefix + "gate" + suffix + ".weight", n_ff, n_embd);
    binder.matrix(ffn.up, prefix + "up" + suffix + ".weight", n_ff, n_embd);
    binder.matrix(ffn.down, prefix + "down" + suffix + ".weight", n_embd, n_ff);
  }

  void compute_shared(const Config& c, const tensor::ConstRows& x, FeedForwardScratch& s,
                      parallel::ThreadPool& pool) const {
    s.inputs.assign(x);
    s.shared.resize(x.rows(), x.cols());
    dense_.run(s.inputs, s.dense, pool, s.shared);
    if (!c.shared_gate) return;
    for (std::size_t t = 0; t < tensor::row_count(x); ++t) {
      float* y = tensor::row(s.shared, t).data();
      simd::scale(simd::sigmoid(tensor::dot(shared_gate_, tensor::row(x, t))), y, y, c.n_embd);
    }
  }

  bool routed_ = true;
  moe::RouterWeights router_;
  moe::ExpertBiases biases_;
  moe::DenseFfn dense_;  // of a dense layer, or the shared expert
  std::vector<float> shared_gate_;
};

}  // namespace lazymoe::models
