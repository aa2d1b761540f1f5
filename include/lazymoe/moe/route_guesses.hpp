#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../core/types.hpp"
#include "../parallel/thread_pool.hpp"
#include "../store/source.hpp"
#include "../tensor/activations.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"
#include "router.hpp"
#include "router_weights.hpp"

namespace lazymoe::moe {

/// What a layer to come would choose for the present hidden states: told to the source of its experts, which may begin
/// to read them.
///
/// @memory scratch for batches up to the largest seen
/// @thread not to be shared
class RouteGuesses {
 public:
  /// Tells `source` which experts the router would choose, those that most tokens choose first.
  /// @shape x[tokens, n_embd]
  template <Router R>
  void run(LayerIndex layer, const R& router, std::size_t width, const RouterWeights& weights,
           const tensor::ConstRows& x, store::ExpertSource& source, parallel::ThreadPool& pool) {
    const std::size_t n_experts = weights.gate_inp.rows;
    inputs_.assign(x);
    logits_.resize(x.rows(), static_cast<Eigen::Index>(n_experts));
    multiply_router(weights, inputs_, logits_, pool);
    chosen_.resize(std::min(width, n_experts));
    weights_.resize(chosen_.size());
    votes_.assign(n_experts, 0);
    for (std::size_t t = 0; t < tensor::row_count(x); ++t) {
      router.route(tensor::row(logits_, t), weights.selection_bias, chosen_, weights_);
      // A token's best choice counts for more than its last.
      for (std::size_t j = 0; j < chosen_.size(); ++j) votes_[chosen_[j]] += chosen_.size() - j;
    }
    order_.clear();
    for (ExpertIndex e = 0; e < n_experts; ++e) {
      if (votes_[e] > 0) order_.push_back(e);
    }
    std::ranges::stable_sort(order_, [&](ExpertIndex a, ExpertIndex b) { return votes_[a] > votes_[b]; });
    source.expect(layer, order_);
  }

 private:
  tensor::Activations inputs_;
  tensor::Matrix logits_;  // [tokens, n_experts]
  std::vector<ExpertIndex> chosen_;
  std::vector<float> weights_;
  std::vector<std::size_t> votes_;  // [n_experts]
  std::vector<ExpertIndex> order_;
};

}  // namespace lazymoe::moe
