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
#include "../tensor/activations.hpp"
#include "../tensor/aliases.hpp"
#include "../tensor/matmul.hpp"
#include "../tensor/norm.hpp"
#include "../tensor/rope.hpp"
#include "config.hpp"
#include "delta_rule.hpp"
#include "recurrent_state.hpp"
#include "sequence.hpp"
#include "weights.hpp"

namespace lazymoe::models {

/// Scratch of DeltaNet layers, shared by all layers of a sequence.
struct DeltaNetScratch {
  tensor::Activations inputs;
  tensor::Activations mixed_inputs;
  tensor::Matrix projected;  // [tokens, channels]: queries, keys and values before the convolution
  tensor::Matrix convolved;  // [tokens, channels]: after it
  tensor::Matrix gates;      // [tokens, value width]: of the output
  tensor::Matrix decays;     // [tokens, n_value_heads]: logarithms
  tensor::Matrix betas;      // [tokens, n_value_heads]
  tensor::Matrix fused;      // [tokens, 2 * n_value_heads]: both before they are taken apart
  tensor::Matrix mixed;      // [tokens, value width]
};

/// Gated DeltaNet: queries, keys and values pass a short causal convolution, then each value head keeps a matrix that
/// forgets by a gate and learns by the delta rule. Each head's output is normed and gated.
///
/// @source Yang et al., "Gated Delta Networks", 2024; tensor names as the GGUF converter of the reference writes them
class DeltaNet {
 public:
  using State = RecurrentState;
  using Scratch = DeltaNetScratch;

  /// Short chunks: the products among a chunk's tokens grow with its length, and 16 tokens already hide what it costs
  /// to read the memory.
  static constexpr std::size_t chunk = 16;

  [[nodiscard]] static RecurrentState new_state(const Config& c, const SequenceOptions& options) {
    const DeltaNetShape& shape = c.delta_net;
    return {{.n_layers = c.recurrent_before(c.n_layers),
             .n_channels = shape.channels(),
             .n_tail = shape.n_taps - 1,
             .n_key_heads = shape.n_key_heads,
             .n_value_heads = shape.n_value_heads,
             .head_dim = shape.head_dim,
             .chunk = options.recurrence == Recurrence::chunked ? chunk : 0},
            options.n_snapshots};
  }

  void bind(WeightBinder& binder, const Config& c, LayerIndex layer) {
    state_layer_ = c.recurrent_before(layer);
    const DeltaNetShape& shape = c.delta_net;
    const std::string prefix = block_prefix(layer);
    binder.matrix(projection_, prefix + "attn_qkv.weight", shape.channels(), c.n_embd);
    binder.matrix(gate_, prefix + "attn_gate.weight", shape.value_width(), c.n_embd);
    binder.transposed(taps_, prefix + "ssm_conv1d.weight", shape.channels(), shape.n_taps);
    fused_ = shape.grouped && binder.has(prefix + "ssm_ba.weight");
    if (fused_) {
      binder.matrix(alpha_, prefix + "ssm_ba.weight", 2 * shape.n_value_heads, c.n_embd);
    } else {
      binder.matrix(alpha_, prefix + "ssm_alpha.weight", shape.n_value_heads, c.n_embd);
      binder.matrix(beta_, prefix + "ssm_beta.weight", shape.n_value_heads, c.n_embd);
    }
    binder.vector(time_bias_, prefix + "ssm_dt.bias", shape.n_value_heads);
    binder.negative_vector(rate_, prefix + "ssm_a", shape.n_value_heads);  // a logarithm would run too
    binder.vector(norm_, prefix + "ssm_norm.weight", shape.head_dim);
    binder.matrix(output_, prefix + "ssm_out.weight", c.n_embd, shape.value_width());
  }

  /// Takes the batch's tokens into the layer's state; positions are told apart by the state alone.
  ///
  /// @shape x[tokens, n_embd], already normed -> out[tokens, n_embd]
  void run(const Config& c, const tensor::Rope&, const tensor::ConstRows& x, RecurrentState& state, DeltaNetScratch& s,
           parallel::ThreadPool& pool, tensor::Rows out) const {
    const DeltaNetShape& shape = c.delta_net;
    const std::size_t first = state.length();
    const RecurrentState::Layer memory = state.layer(state_layer_);
    const auto product = [&](const quant::PackedMatrix& w, tensor::Matrix& y) {
      y.resize(x.rows(), static_cast<Eigen::Index>(w.rows));
      tensor::matmul(w, s.inputs, y, pool);
    };
    s.inputs.assign(x);
    product(projection_, s.projected);
    product(gate_, s.gates);
    if (fused_) {
      product(alpha_, s.fused);
      take_apart(shape, s);
    } else {
      product(alpha_, s.decays);
      product(beta_, s.betas);
    }
    s.convolved.resizeLike(s.projected);
    s.mixed.resizeLike(s.gates);

    const std::size_t n = tensor::row_count(x);
    pool.parallel_for(n, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const auto channels = tensor::row(s.convolved, t);
        convolve(shape, s.projected, memory.tail, t, channels);
        for (std::size_t h = 0; h < 2 * shape.n_key_heads; ++h) {
          tensor::l2_norm(channels.subspan(h * shape.head_dim, shape.head_dim), c.rms_epsilon);
        }
        prepare_gates(tensor::row(s.decays, t), tensor::row(s.betas, t));
      }
    });
    keep_tail(shape, s.projected, memory.tail);

    pool.parallel_for(shape.n_key_heads, 1, [&](std::size_t begin, std::size_t end) {
      if (state.shape().chunk == 0) {
        for (std::size_t h = begin; h < end; ++h) step(shape, h, memory, s);
      } else {
        DeltaChunk work(state.shape().chunk, shape.head_dim);
        for (std::size_t h = begin; h < end; ++h) run_chunks(shape, h, first, memory, work, s);
      }
    });

    pool.parallel_for(n, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) {
        const auto mixed = tensor::row(s.mixed, t);
        tensor::rms_norm_heads(mixed, norm_, c.rms_epsilon);
        simd::swiglu(tensor::row(s.gates, t).data(), mixed.data(), mixed.data(), mixed.size());
      }
    });
    s.mixed_inputs.assign(s.mixed);
    tensor::matmul(output_, s.mixed_inputs, out, pool);
  }

 private:
  /// y[c] = silu(sum_j taps[j][c] u[t - n_tail + j][c]), where u begins with the tail.
  void convolve(const DeltaNetShape& shape, tensor::Matrix& projected, const float* tail, std::size_t t,
                std::span<float> y) const {
    const std::size_t width = shape.channels();
    const std::size_t n_tail = shape.n_taps - 1;
    std::fill(y.begin(), y.end(), 0.0F);
    for (std::size_t j = 0; j < shape.n_taps; ++j) {
      const float* u = t + j < n_tail ? tail + (t + j) * width : tensor::row(projected, t + j - n_tail).data();
      simd::transform(
          width, y.data(),
          [](const simd::FloatBatch& ui, const simd::FloatBatch& wi, const simd::FloatBatch& yi) {
            // The product is rounded before it is added, as in the reference; a plain one the compiler may fuse.
            return yi + simd::fma(ui, wi, simd::FloatBatch(0.0F));
          },
          u, taps_.data() + j * width, static_cast<const float*>(y.data()));
    }
    simd::transform(width, y.data(), [](const simd::FloatBatch& yi) { return simd::silu(yi); },
                    static_cast<const float*>(y.data()));
  }

  /// What the next batch's convolution looks back at.
  static void keep_tail(const DeltaNetShape& shape, tensor::Matrix& projected, float* tail) {
    const std::size_t width = shape.channels();
    const std::size_t n_tail = shape.n_taps - 1;
    const auto n = static_cast<std::size_t>(projected.rows());
    const std::size_t n_old = n < n_tail ? n_tail - n : 0;
    std::copy_n(tail + (n_tail - n_old) * width, n_old * width, tail);
    for (std::size_t i = n_old; i < n_tail; ++i) {
      std::copy_n(tensor::row(projected, n - n_tail + i).data(), width, tail + i * width);
    }
  }

  /// Of each key head the betas of its value heads, then the alphas.
  static void take_apart(const DeltaNetShape& shape, DeltaNetScratch& s) {
    const std::size_t group = shape.n_value_heads / shape.n_key_heads;
    const auto heads = static_cast<Eigen::Index>(shape.n_value_heads);
    s.decays.resize(s.fused.rows(), heads);
    s.betas.resize(s.fused.rows(), heads);
    for (std::size_t t = 0; t < static_cast<std::size_t>(s.fused.rows()); ++t) {
      const auto from = tensor::row(s.fused, t);
      for (std::size_t h = 0; h < shape.n_value_heads; ++h) {
        const std::size_t at = h / group * 2 * group + h % group;
        tensor::row(s.betas, t)[h] = from[at];
        tensor::row(s.decays, t)[h] = from[at + group];
      }
    }
  }

  /// alpha -> log decay = rate * softplus(alpha + bias), beta -> sigmoid(beta); with the C library's functions, as in
  /// the reference.
  void prepare_gates(std::span<float> alpha, std::span<float> beta) const {
    for (std::size_t h = 0; h < alpha.size(); ++h) {
      const float biased = alpha[h] + time_bias_[h];
      const float softplus = biased > 20.0F ? biased : std::log(1.0F + std::exp(biased));
      alpha[h] = softplus * rate_[h];
      beta[h] = simd::sigmoid(beta[h]);
    }
  }

  /// The j-th of the value heads that read key head `h`.
  [[nodiscard]] static std::size_t value_head(const DeltaNetShape& shape, std::size_t h, std::size_t j) noexcept {
    return shape.grouped ? h * (shape.n_value_heads / shape.n_key_heads) + j : j * shape.n_key_heads + h;
  }

  /// All tokens for the value heads of key head `h`, one after the other.
  static void step(const DeltaNetShape& shape, std::size_t h, const RecurrentState::Layer& layer, DeltaNetScratch& s) {
    const std::size_t d = shape.head_dim;
    for (std::size_t j = 0; j < shape.n_value_heads / shape.n_key_heads; ++j) {
      const std::size_t v = value_head(shape, h, j);
      for (std::size_t t = 0; t < static_cast<std::size_t>(s.convolved.rows()); ++t) {
        const float* channels = tensor::row(s.convolved, t).data();
        delta_step(layer.memory + v * d * d, channels + shape.key_width() + h * d, channels + h * d,
                   channels + 2 * shape.key_width() + v * d, tensor::row(s.decays, t)[v], tensor::row(s.betas, t)[v], d,
                   tensor::row(s.mixed, t).data() + v * d);
      }
    }
  }

  /// The same chunk by chunk; chunks begin at fixed positions of the sequence.
  static void run_chunks(const DeltaNetShape& shape, std::size_t h, std::size_t first,
                         const RecurrentState::Layer& layer, DeltaChunk& work, DeltaNetScratch& s) {
    const std::size_t d = shape.head_dim;
    const std::size_t width = shape.channels();
    const auto n = static_cast<std::size_t>(s.convolved.rows());
    for (std::size_t done = 0; done < n;) {
      const std::size_t begin = (first + done) % chunk;
      const std::size_t count = std::min(n - done, chunk - begin);
      const float* channels = tensor::row(s.convolved, done).data();
      work.load(layer.keys + h * chunk * d, begin, count, channels + shape.key_width() + h * d, channels + h * d,
                width);
      for (std::size_t j = 0; j < shape.n_value_heads / shape.n_key_heads; ++j) {
        const std::size_t v = value_head(shape, h, j);
        work.run({.memory = layer.memory + v * d * d,
                  .deltas = layer.deltas + v * chunk * d,
                  .decays = layer.decays + v * chunk},
                 {.values = channels + 2 * shape.key_width() + v * d,
                  .value_stride = width,
                  .log_decays = tensor::row(s.decays, done).data() + v,
                  .betas = tensor::row(s.betas, done).data() + v,
                  .gate_stride = shape.n_value_heads},
                 tensor::row(s.mixed, done).data() + v * d, shape.value_width());
      }
      done += count;
    }
  }

  std::size_t state_layer_ = 0;
  bool fused_ = false;
  quant::PackedMatrix projection_;
  quant::PackedMatrix gate_;
  quant::PackedMatrix alpha_;  // or alpha and beta together
  quant::PackedMatrix beta_;
  quant::PackedMatrix output_;
  std::vector<float> taps_;  // [n_taps, channels]
  std::vector<float> time_bias_;
  std::vector<float> rate_;  // of decay: negative
  std::vector<float> norm_;
};

}  // namespace lazymoe::models
