#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "../core/buffer.hpp"
#include "../core/contract.hpp"
#include "../simd/math.hpp"
#include "../simd/vector.hpp"
#include "../tensor/dot.hpp"

/// The gated delta rule of one head, in two forms that mean the same:
///
///     S = e^g S;   d = beta (v - S k);   S = S + d k^T;   o = S q / sqrt(D)
///
/// @source Yang et al., "Gated Delta Networks", 2024
namespace lazymoe::models {

/// One token, step by step as the reference rounds it.
///
/// @shape state[D (value), D (key)], k[D], q[D], v[D] -> out[D]
/// @cost  the state is read and written once
inline void delta_step(float* state, const float* k, const float* q, const float* v, float log_decay, float beta,
                       std::size_t d, float* out) noexcept {
  const float decay = std::exp(log_decay);
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  for (std::size_t j = 0; j < d; ++j) {
    float* row = state + j * d;
    simd::scale(decay, row, row, d);
    simd::add_scaled((v[j] - tensor::dot({row, d}, {k, d})) * beta, k, row, d);
    out[j] = tensor::dot({row, d}, {q, d}) * scale;
  }
}

/// The tokens of a chunk together: the memory stays what it was at the chunk's start, and what the chunk's tokens add
/// to it is kept as a list of keys and deltas until the chunk is full. So the memory is read once for several tokens
/// and written once a chunk, and each number is the same sum in the same order however many tokens come at once.
///
///     G_t = g_1 + .. + g_t
///     d_t = beta_t (v_t - e^(G_t) S k_t - sum_(s < t) (k_t . k_s) e^(G_t - G_s) d_s)
///     o_t = (e^(G_t) S q_t + sum_(s <= t) (q_t . k_s) e^(G_t - G_s) d_s) / sqrt(D)
///
/// Holds what the value heads of one key head share, and scratch: one object a thread.
///
/// @error  beside delta_step(): the rounding of sums of D and of `chunk` terms
/// @source Yang et al., "Parallelizing Linear Transformers with the Delta Rule", 2024
class DeltaChunk {
 public:
  /// Numbers of one value head, as RecurrentState::Layer holds them.
  struct Head {
    float* memory;  ///< [D (key), D (value)]
    float* deltas;  ///< [chunk, D]
    float* decays;  ///< [chunk]: G
  };
  /// What the tokens bring for one value head: rows of values and gates that lie so far apart.
  struct Tokens {
    const float* values;
    std::size_t value_stride;
    const float* log_decays;
    const float* betas;
    std::size_t gate_stride;
  };

  /// @pre chunk > 0; d is a multiple of simd::float_lanes
  DeltaChunk(std::size_t chunk, std::size_t d)
      : chunk_(chunk),
        d_(d),
        overlaps_(2 * chunk * chunk),
        inputs_(2 * chunk * d),
        products_(2 * chunk * d),
        decayed_(2 * chunk),
        factors_(chunk),
        added_(chunk * d) {
    LAZYMOE_EXPECTS(chunk > 0 && d % simd::float_lanes == 0);
  }

  /// Takes `n` tokens that come after `begin` others of the chunk; their keys are written into keys[chunk, D].
  /// @pre begin + n <= chunk
  void load(float* keys, std::size_t begin, std::size_t n, const float* k, const float* q,
            std::size_t stride) noexcept {
    LAZYMOE_EXPECTS(begin + n <= chunk_);
    keys_ = keys;
    begin_ = begin;
    n_ = n;
    for (std::size_t t = 0; t < n; ++t) {
      const float* key = k + t * stride;
      const float* query = q + t * stride;
      std::copy_n(key, d_, keys + (begin + t) * d_);
      for (std::size_t i = 0; i < d_; ++i) {
        inputs_[(i * n + t) * 2] = key[i];
        inputs_[(i * n + t) * 2 + 1] = query[i];
      }
      for (std::size_t s = 0; s <= begin + t; ++s) {
        overlaps_[2 * t * chunk_ + s] = tensor::dot({key, d_}, {keys + s * d_, d_});
        overlaps_[(2 * t + 1) * chunk_ + s] = tensor::dot({query, d_}, {keys + s * d_, d_});
      }
    }
  }

  /// Runs the loaded tokens for one value head.
  /// @shape out[n, D], rows `out_stride` apart
  void run(const Head& head, const Tokens& in, float* out, std::size_t out_stride) noexcept {
    multiply(head.memory);
    for (std::size_t t = 0; t < n_; ++t) {
      const std::size_t at = begin_ + t;
      const float sum = (at == 0 ? 0.0F : head.decays[at - 1]) + in.log_decays[t * in.gate_stride];
      head.decays[at] = sum;
      decay(sum, head.decays, factors_.data(), at + 1);
      for (const std::size_t of : {std::size_t{0}, std::size_t{1}}) {
        simd::transform(
            at + 1, decayed_.data() + of * chunk_,
            [](const simd::FloatBatch& overlap, const simd::FloatBatch& factor) { return overlap * factor; },
            overlaps_.data() + (2 * t + of) * chunk_, factors_.data());
      }
      token(head.deltas, t, std::exp(sum), in.betas[t * in.gate_stride], in.values + t * in.value_stride,
            out + t * out_stride);
    }
    if (begin_ + n_ == chunk_) fold(head);
  }

 private:
  using Batch = simd::FloatBatch;
  static constexpr std::size_t lanes = simd::float_lanes;

  /// y[s] = e^(sum - sums[s])
  static void decay(float sum, const float* sums, float* y, std::size_t n) noexcept {
    const Batch from(sum);
    simd::transform(n, y, [&](const Batch& s) { return simd::exp(from - s); }, sums);
  }

  /// Calls fn.operator()<J>(j) for tiles of J registers that cover a row, J <= widest.
  template <std::size_t Widest, class Fn>
  void for_tiles(Fn&& fn) const noexcept {
    std::size_t j = 0;
    for (; j + Widest * lanes <= d_; j += Widest * lanes) fn.template operator()<Widest>(j);
    for (; j < d_; j += lanes) fn.template operator()<1>(j);
  }

  /// products[2n, D] = keys and queries times the memory.
  void multiply(const float* memory) noexcept {
    if (n_ == 1) {
      for_tiles<4>([&]<std::size_t J>(std::size_t j) { product<2, J>(memory + j, 0, j); });
      return;
    }
    for_tiles<2>([&]<std::size_t J>(std::size_t j) {
      std::size_t r = 0;
      for (; r + 6 <= 2 * n_; r += 6) product<6, J>(memory + j, r, j);
      for (; r < 2 * n_; r += 2) product<2, J>(memory + j, r, j);
    });
  }

  template <std::size_t R, std::size_t J>
  void product(const float* memory, std::size_t r, std::size_t j) noexcept {
    std::array<std::array<Batch, J>, R> sums;
    for (auto& row : sums) row.fill(Batch(0.0F));
    const float* x = inputs_.data() + r;
    for (std::size_t i = 0; i < d_; ++i, x += 2 * n_, memory += d_) {
      std::array<Batch, J> m;
      for (std::size_t l = 0; l < J; ++l) {
        m[l] = Batch::load_unaligned(memory + l * lanes);
        simd::keep_in_register(m[l]);
      }
      for (std::size_t k = 0; k < R; ++k) {
        const Batch factor(x[k]);
        for (std::size_t l = 0; l < J; ++l) sums[k][l] = simd::fma(factor, m[l], sums[k][l]);
      }
    }
    for (std::size_t k = 0; k < R; ++k) {
      for (std::size_t l = 0; l < J; ++l) sums[k][l].store_unaligned(products_.data() + (r + k) * d_ + j + l * lanes);
    }
  }

  /// Delta and output of the t-th token.
  void token(float* deltas, std::size_t t, float decay_of_memory, float beta, const float* v, float* out) noexcept {
    const std::size_t at = begin_ + t;
    const float* of_key = decayed_.data();
    const float* of_query = of_key + chunk_;
    const float* product = products_.data() + 2 * t * d_;
    const Batch from_memory(decay_of_memory);
    const Batch scale(1.0F / std::sqrt(static_cast<float>(d_)));
    for_tiles<4>([&]<std::size_t J>(std::size_t j) {
      std::array<Batch, J> recalled;
      std::array<Batch, J> read;
      for (std::size_t l = 0; l < J; ++l) {
        recalled[l] = from_memory * Batch::load_unaligned(product + j + l * lanes);
        read[l] = from_memory * Batch::load_unaligned(product + d_ + j + l * lanes);
      }
      for (std::size_t s = 0; s < at; ++s) {
        const Batch a(of_key[s]);
        const Batch b(of_query[s]);
        for (std::size_t l = 0; l < J; ++l) {
          const Batch delta = Batch::load_unaligned(deltas + s * d_ + j + l * lanes);
          recalled[l] = simd::fma(a, delta, recalled[l]);
          read[l] = simd::fma(b, delta, read[l]);
        }
      }
      for (std::size_t l = 0; l < J; ++l) {
        const Batch delta = (Batch::load_unaligned(v + j + l * lanes) - recalled[l]) * Batch(beta);
        delta.store_unaligned(deltas + at * d_ + j + l * lanes);
        (simd::fma(Batch(of_query[at]), delta, read[l]) * scale).store_unaligned(out + j + l * lanes);
      }
    });
  }

  /// Adds what a full chunk has to the memory: S = e^(G_C) S + sum_s e^(G_C - G_s) k_s d_s^T.
  void fold(const Head& head) noexcept {
    const float sum = head.decays[chunk_ - 1];
    decay(sum, head.decays, factors_.data(), chunk_);
    for (std::size_t s = 0; s < chunk_; ++s) {
      simd::scale(factors_[s], head.deltas + s * d_, added_.data() + s * d_, d_);
    }
    const Batch kept(std::exp(sum));
    for_tiles<2>([&]<std::size_t J>(std::size_t j) {
      std::size_t i = 0;
      for (; i + 6 <= d_; i += 6) fold_tile<6, J>(head.memory + i * d_ + j, i, j, kept);
      for (; i < d_; i += 2) fold_tile<2, J>(head.memory + i * d_ + j, i, j, kept);
    });
  }

  template <std::size_t R, std::size_t J>
  void fold_tile(float* memory, std::size_t i, std::size_t j, const Batch& kept) noexcept {
    std::array<std::array<Batch, J>, R> sums;
    for (std::size_t k = 0; k < R; ++k) {
      for (std::size_t l = 0; l < J; ++l) sums[k][l] = kept * Batch::load_unaligned(memory + k * d_ + l * lanes);
    }
    const float* key = keys_ + i;
    const float* added = added_.data() + j;
    for (std::size_t s = 0; s < chunk_; ++s, key += d_, added += d_) {
      std::array<Batch, J> a;
      for (std::size_t l = 0; l < J; ++l) {
        a[l] = Batch::load_unaligned(added + l * lanes);
        simd::keep_in_register(a[l]);
      }
      for (std::size_t k = 0; k < R; ++k) {
        const Batch factor(key[k]);
        for (std::size_t l = 0; l < J; ++l) sums[k][l] = simd::fma(factor, a[l], sums[k][l]);
      }
    }
    for (std::size_t k = 0; k < R; ++k) {
      for (std::size_t l = 0; l < J; ++l) sums[k][l].store_unaligned(memory + k * d_ + l * lanes);
    }
  }

  std::size_t chunk_;
  std::size_t d_;
  AlignedArray<float> overlaps_;  // [n, 2, chunk]: key and query of a token times the chunk's keys
  AlignedArray<float> inputs_;    // [D, n, 2]: the tokens' keys and queries
  AlignedArray<float> products_;  // [n, 2, D]: the same times the memory
  AlignedArray<float> decayed_;   // [2, chunk]: overlaps of the present token with their decays
  AlignedArray<float> factors_;   // [chunk]: e^(G_t - G_s)
  AlignedArray<float> added_;     // [chunk, D]: deltas decayed to the chunk's end
  const float* keys_ = nullptr;   // [chunk, D]
  std::size_t begin_ = 0;
  std::size_t n_ = 0;
};

}  // namespace lazymoe::models
