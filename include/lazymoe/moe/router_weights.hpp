#pragma once

#include <cstddef>
#include <vector>

#include "../parallel/thread_pool.hpp"
#include "../quant/packed_matrix.hpp"
#include "../simd/vector.hpp"
#include "../tensor/activations.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"

namespace lazymoe::moe {

/// What one layer's router multiplies and adds.
struct RouterWeights {
  quant::PackedMatrix gate_inp;            ///< [n_experts, n_embd]
  std::vector<float> bias = {};            ///< [n_experts], or none: added to the logits
  std::vector<float> selection_bias = {};  ///< [n_experts], or none: for the choice of experts alone
};

/// logits[t] = gate_inp x[t] + bias
/// @shape x[tokens, n_embd] -> logits[tokens, n_experts]
inline void multiply_router(const RouterWeights& weights, tensor::Activations& x, tensor::Rows logits,
                            parallel::ThreadPool& pool) {
  tensor::matmul(weights.gate_inp, x, logits, pool);
  if (weights.bias.empty()) return;
  for (std::size_t t = 0; t < tensor::row_count(logits); ++t) {
    simd::add(weights.bias.data(), tensor::row(logits, t).data(), weights.bias.size());
  }
}

}  // namespace lazymoe::moe
