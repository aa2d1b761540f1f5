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
#include "detail/register_tiles.hpp"

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
/// The columns of memory, deltas and outputs have nothing to do with each other, so all of this is done for a panel of
/// two registers' width before the next one: what a panel needs stays in the first cache.
///
/// Holds what the value heads of one key head share, and scratch: one object a thread.
///
/// @cost   (3 + 1 / chunk) D^2 + (2 chunk + 2) D multiply-adds a token and value head; docs/measuring.md says what
///         that bounds
/// @error  beside delta_step(): the rounding of sums of D and of `chunk` terms
/// @source Yang et al., "Parallelizing Linear Transformers with the Delta Rule", 2024
class DeltaChunk {
 public:
  static constexpr std::size_t lanes = detail::tile_lanes;

  /// Numbers of one value head, as RecurrentState::Layer holds them. In panels: of each the rows one after the other.
  struct Head {
    float* memory;  ///< [D (key), D (value)] in panels
    float* deltas;  ///< [chunk, D] in panels
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

  /// @pre chunk > 0; d is a multiple of `lanes`
  DeltaChunk(std::size_t chunk, std::size_t d)
      : chunk_(chunk),
        d_(d),
        row_(align_up(2 * chunk, panel)),
        inputs_(2 * chunk * d + panel),
        overlaps_(chunk * row_),
        decayed_(chunk * row_),
        factors_(chunk),
        since_(chunk),
        products_(2 * chunk * panel),
        added_(chunk * panel) {
    LAZYMOE_EXPECTS(chunk > 0 && d % lanes == 0);
  }

  /// Where the element [key][value] of a memory of [d, d] lies.
  [[nodiscard]] static std::size_t index(std::size_t key, std::size_t value, std::size_t d) noexcept {
    const std::size_t first = value / panel * panel;
    return first * d + key * std::min(panel, d - first) + value - first;
  }

  /// Takes `n` tokens that come after `begin` others of the chunk; their keys are written into keys[chunk, D].
  /// @pre begin + n <= chunk
  void load(float* keys, std::size_t begin, std::size_t n, const float* k, const float* q,
            std::size_t stride) noexcept {
    LAZYMOE_EXPECTS(begin + n <= chunk_);
    keys_ = keys;
    begin_ = begin;
    n_ = n;
    for (std::size_t t = 0; t < n; ++t) std::copy_n(k + t * stride, d_, keys + (begin + t) * d_);
    for (std::size_t i = 0; i < d_; ++i) {
      float* to = inputs_.data() + i * 2 * n;
      for (std::size_t t = 0; t < n; ++t) to[t] = k[t * stride + i];
      for (std::size_t t = 0; t < n; ++t) to[n + t] = q[t * stride + i];
    }
    for (std::size_t j = 0; j < 2 * n; j += panel) {
      detail::for_tiles(begin + n, [&]<std::size_t R>(std::size_t s) {
        detail::multiply<R, 2>(d_, keys + s * d_, d_, 1, inputs_.data() + j, 2 * n, overlaps_.data() + s * row_ + j,
                               row_);
      });
    }
  }

  /// Runs the loaded tokens for one value head.
  /// @shape out[n, D], rows `out_stride` apart
  void run(const Head& head, const Tokens& in, float* out, std::size_t out_stride) noexcept {
    for (std::size_t t = 0; t < n_; ++t) {
      const std::size_t at = begin_ + t;
      head.decays[at] = (at == 0 ? 0.0F : head.decays[at - 1]) + in.log_decays[t * in.gate_stride];
      for (std::size_t i = 0; i < d_; i += line) __builtin_prefetch(in.values + t * in.value_stride + i, 0, 2);
    }
    decay(head.decays);
    for_panels([&]<std::size_t J>(std::size_t j) {
      float* memory = head.memory + j * d_;
      float* deltas = head.deltas + j * chunk_;
      multiply<J>(memory);
      detail::for_tiles(n_, [&]<std::size_t R>(std::size_t t) { learn<R, J>(deltas, in, t, j); });
      detail::for_tiles(n_, [&]<std::size_t R>(std::size_t t) {
        read<R, J>(deltas, t, out + t * out_stride + j, out_stride);
      });
      if (begin_ + n_ == chunk_) fold<J>(memory, deltas);
    });
  }

 private:
  using Batch = simd::WideBatch;
  static constexpr std::size_t panel = 2 * lanes;
  static constexpr std::size_t line = 16;  // of the cache, in floats

  /// Calls fn.operator()<J>(j) for panels of J registers that cover a row.
  template <class Fn>
  void for_panels(Fn&& fn) const noexcept {
    std::size_t j = 0;
    for (; j + panel <= d_; j += panel) fn.template operator()<2>(j);
    for (; j < d_; j += lanes) fn.template operator()<1>(j);
  }

  /// Everything that depends on the decays alone. Of decayed_ the tokens t >= s are of use.
  void decay(const float* sums) noexcept {
    using Floats = simd::FloatBatch;
    const auto times = [](const Floats& factor, const Floats& overlap) { return factor * overlap; };
    const std::size_t end = begin_ + n_;
    for (std::size_t s = 0; s < end; ++s) {
      const std::size_t skipped = s > begin_ ? (s - begin_) / simd::float_lanes * simd::float_lanes : 0;
      const std::size_t n = n_ - skipped;
      const Floats from(sums[s]);
      simd::transform(n, factors_.data(), [&](const Floats& sum) { return simd::exp(sum - from); },
                      sums + begin_ + skipped);
      const float* factors = factors_.data();
      const float* overlaps = overlaps_.data() + s * row_ + skipped;
      float* decayed = decayed_.data() + s * row_ + skipped;
      simd::transform(n, decayed, times, factors, overlaps);
      simd::transform(n, decayed + n_, times, factors, overlaps + n_);
    }
    const Floats last(sums[end - 1]);
    simd::transform(end, factors_.data(), [&](const Floats& sum) { return simd::exp(last - sum); }, sums);
    for (std::size_t t = 0; t < n_; ++t) since_[t] = std::exp(sums[begin_ + t]);
  }

  template <std::size_t J>
  void multiply(const float* memory) noexcept {
    constexpr std::size_t width = J * lanes;
    detail::for_tiles(2 * n_, [&]<std::size_t R>(std::size_t r) {
      detail::multiply<R, J>(d_, inputs_.data() + r, 1, 2 * n_, memory, width, products_.data() + r * width, width);
    });
  }

  /// What the memory and the deltas before token t give for the keys (0) or queries (1) of the tokens from t on.
  template <std::size_t R, std::size_t J>
  [[gnu::always_inline]] detail::Tile<R, J> recall(const float* deltas, std::size_t t,
                                                   std::size_t of) const noexcept {
    const float* products = products_.data() + (of * n_ + t) * J * lanes;
    detail::Tile<R, J> tile;
    for (std::size_t k = 0; k < R; ++k) {
      for (std::size_t l = 0; l < J; ++l) {
        tile[k][l] = Batch(since_[t + k]) * Batch::load_unaligned(products + (k * J + l) * lanes);
      }
    }
    detail::add_products(tile, begin_ + t, decayed_.data() + of * n_ + t, 1, row_, deltas, J * lanes);
    return tile;
  }

  /// Deltas of the tokens from t on.
  template <std::size_t R, std::size_t J>
  [[gnu::noinline]] void learn(float* deltas, const Tokens& in, std::size_t t, std::size_t j) noexcept {
    detail::Tile<R, J> tile = recall<R, J>(deltas, t, 0);
    const float* decayed = decayed_.data() + (begin_ + t) * row_ + t;
    const float* values = in.values + t * in.value_stride + j;
    for (std::size_t s = 0; s < R; ++s) {
      const Batch beta(in.betas[(t + s) * in.gate_stride]);
      for (std::size_t l = 0; l < J; ++l) {
        tile[s][l] = (Batch::load_unaligned(values + s * in.value_stride + l * lanes) - tile[s][l]) * beta;
      }
      for (std::size_t k = s + 1; k < R; ++k) {
        const Batch factor(decayed[s * row_ + k]);
        for (std::size_t l = 0; l < J; ++l) tile[k][l] = simd::fma(factor, tile[s][l], tile[k][l]);
      }
    }
    detail::store(tile, deltas + (begin_ + t) * J * lanes, J * lanes);
  }

  /// Outputs of the tokens from t on.
  template <std::size_t R, std::size_t J>
  [[gnu::noinline]] void read(const float* deltas, std::size_t t, float* out, std::size_t out_stride) const noexcept {
    detail::Tile<R, J> tile = recall<R, J>(deltas, t, 1);
    const float* decayed = decayed_.data() + (begin_ + t) * row_ + n_ + t;
    const float* own = deltas + (begin_ + t) * J * lanes;
    const Batch scale(1.0F / std::sqrt(static_cast<float>(d_)));
    for (std::size_t s = 0; s < R; ++s) {
      for (std::size_t k = s; k < R; ++k) {
        const Batch factor(decayed[s * row_ + k]);
        for (std::size_t l = 0; l < J; ++l) {
          tile[k][l] = simd::fma(factor, Batch::load_unaligned(own + (s * J + l) * lanes), tile[k][l]);
        }
      }
      for (std::size_t l = 0; l < J; ++l) tile[s][l] *= scale;
    }
    detail::store(tile, out, out_stride);
  }

  /// Adds what a full chunk has to the memory: S = e^(G_C) S + sum_s e^(G_C - G_s) k_s d_s^T.
  template <std::size_t J>
  void fold(float* memory, const float* deltas) noexcept {
    constexpr std::size_t width = J * lanes;
    for (std::size_t s = 0; s < chunk_; ++s) {
      simd::scale(factors_[s], deltas + s * width, added_.data() + s * width, width);
    }
    detail::for_tiles(d_, [&]<std::size_t R>(std::size_t i) {
      float* rows = memory + i * width;
      // The next panel comes meanwhile; past the last one there is nothing to be had, and that does no harm.
      for (std::size_t k = 0; k < R * width; k += line) __builtin_prefetch(rows + d_ * width + k, 1, 3);
      detail::scale_and_multiply<R, J>(since_[n_ - 1], chunk_, keys_ + i, 1, d_, added_.data(), width, rows, width);
    });
  }

  std::size_t chunk_;
  std::size_t d_;
  std::size_t row_;               // of overlaps_ and decayed_: 2 * chunk, filled up to whole panels
  AlignedArray<float> inputs_;    // [D, 2, n]: the tokens' keys and queries
  AlignedArray<float> overlaps_;  // [chunk, 2, n]: the same times the chunk's keys
  AlignedArray<float> decayed_;   // [chunk, 2, n]: with the decay from the chunk's token to the other
  AlignedArray<float> factors_;   // [chunk]: decay from a token to the last one
  AlignedArray<float> since_;     // [n]: decay from the chunk's start to a token
  AlignedArray<float> products_;  // [2, n, panel]: keys and queries times the memory
  AlignedArray<float> added_;     // [chunk, panel]: deltas decayed to the chunk's end
  const float* keys_ = nullptr;   // [chunk, D]
  std::size_t begin_ = 0;
  std::size_t n_ = 0;
};

}  // namespace lazymoe::models
