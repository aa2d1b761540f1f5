#pragma once

#include <cstddef>

#include "../parallel/thread_pool.hpp"
#include "../quant/packed_matrix.hpp"
#include "../simd/math.hpp"
#include "../tensor/activations.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"

namespace lazymoe::moe {

/// A feed-forward that every token takes: a dense layer, or the shared expert beside the routed ones.
///
/// @shape gate[n_ff, n_embd], up[n_ff, n_embd], down[n_embd, n_ff]
struct DenseFfn {
  quant::PackedMatrix gate;
  quant::PackedMatrix up;
  quant::PackedMatrix down;

  struct Scratch {
    tensor::Matrix gates;  // [tokens, n_ff], then the hidden activations
    tensor::Matrix ups;    // [tokens, n_ff]
    tensor::Activations hidden;
  };

  /// out[t] = down(silu(gate x[t]) * up x[t]).
  ///
  /// @shape x[tokens, n_embd] -> out[tokens, n_embd]
  void run(tensor::Activations& x, Scratch& s, parallel::ThreadPool& pool, tensor::Rows out) const {
    const auto n_tokens = static_cast<Eigen::Index>(x.tokens());
    s.gates.resize(n_tokens, static_cast<Eigen::Index>(gate.rows));
    s.ups.resize(n_tokens, static_cast<Eigen::Index>(gate.rows));
    tensor::matmul(gate, x, s.gates, pool);
    tensor::matmul(up, x, s.ups, pool);
    pool.parallel_for(x.tokens(), 1 + 4096 / gate.rows, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        float* g = tensor::row(s.gates, t).data();
        simd::swiglu(g, tensor::row(s.ups, t).data(), g, gate.rows);
      }
    });
    s.hidden.assign(s.gates);
    tensor::matmul(down, s.hidden, out, pool);
  }
};

}  // namespace lazymoe::moe
