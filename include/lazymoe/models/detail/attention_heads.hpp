#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "../../core/buffer.hpp"
#include "../../core/bytes.hpp"
#include "../../parallel/thread_pool.hpp"
#include "../../simd/math.hpp"
#include "../../simd/vector.hpp"
#include "../../tensor/dot.hpp"
#include "../cached_vectors.hpp"

namespace lazymoe::models::detail {

/// Some heads of one token that share keys and values: softmax of their scores, then the sums of values by it.
///
/// Cached vectors are decoded in blocks that the second-level cache holds, and meet all heads there. The order of sums
/// depends on nothing but the position: position p adds to partial sum p % 8, and these are added as a register of
/// eight lanes folds, as in the reference.
struct AttentionHeads {
  std::size_t n_heads = 0;
  std::size_t n_positions = 0;
  std::size_t n_unseen = 0;  ///< leading positions outside the window
  std::size_t key_dim = 0;
  std::size_t value_dim = 0;
  float scale = 1.0F;            ///< of scores
  const float* sinks = nullptr;  ///< [n_heads], or none: see simd::softmax()

  /// Floats that run() needs: whole cache lines.
  [[nodiscard]] std::size_t scratch() const noexcept {
    return lines(n_heads * n_positions) + n_heads * n_batches() * batch_floats +
           lines(block * std::max(key_dim, value_dim));
  }

  /// Keys and values come by keys(first, n, scratch) and values(first, n, scratch), as CachedRows of n positions.
  ///
  /// @shape queries[n_heads, key_dim], scratch[scratch()] -> sums[n_heads, value_dim]
  /// @cost  loads that straddle cache lines take a fifth more time: better that scratch begins a line
  template <class Keys, class Values>
  void run(const Keys& keys, const Values& values, const float* queries, float* sums, float* scratch) const noexcept {
    float* scores = scratch;                                 // [n_heads, n_positions]
    float* partial = scores + lines(n_heads * n_positions);  // [n_heads, n_batches(), n_partial, lanes]
    float* decoded = partial + n_heads * n_batches() * batch_floats;
    const std::size_t begin = n_unseen / n_partial * n_partial;
    for (std::size_t first = begin; first < n_positions; first += block) {
      const std::size_t n = std::min(block, n_positions - first);
      const CachedRows rows = keys(first, n, decoded);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t h = 0; h < n_heads; ++h) {
          scores[h * n_positions + first + i] =
              scale * tensor::dot({rows.first + i * rows.stride, key_dim}, {queries + h * key_dim, key_dim});
        }
      }
    }
    for (std::size_t h = 0; h < n_heads; ++h) {
      // What is not seen has no share; softmax is over all positions, as where they begin decides the order of its sum.
      std::fill_n(scores + h * n_positions, n_unseen, -std::numeric_limits<float>::infinity());
      simd::softmax(scores + h * n_positions, n_positions, sinks == nullptr ? nullptr : sinks + h);
    }

    std::fill(partial, decoded, 0.0F);
    for (std::size_t first = begin; first < n_positions; first += block) {
      const std::size_t n = std::min(block, n_positions - first);
      const CachedRows rows = values(first, n, decoded);
      for (std::size_t b = 0; b < n_batches(); ++b) {
        for (std::size_t h = 0; h < n_heads; ++h) {
          add_block(scores + h * n_positions + first, rows, n, b, partial + (h * n_batches() + b) * batch_floats);
        }
      }
    }
    for (std::size_t h = 0; h < n_heads; ++h) {
      for (std::size_t b = 0; b < n_batches(); ++b) {
        fold(partial + (h * n_batches() + b) * batch_floats, b, sums + h * value_dim);
      }
    }
  }

 private:
  static constexpr std::size_t n_partial = 8;
  static constexpr std::size_t block = 32;  // positions; a multiple of n_partial
  static constexpr std::size_t batch_floats = n_partial * simd::float_lanes;

  [[nodiscard]] static std::size_t lines(std::size_t n) noexcept {
    return align_up(n, std::size_t{64} / sizeof(float));
  }

  [[nodiscard]] std::size_t n_batches() const noexcept {
    return (value_dim + simd::float_lanes - 1) / simd::float_lanes;
  }

  /// Adds batch `b` of n weighted rows to its partial sums [n_partial, lanes].
  void add_block(const float* weights, const CachedRows& rows, std::size_t n, std::size_t b,
                 float* partial) const noexcept {
    const float* from = rows.first + b * simd::float_lanes;
    const std::size_t left = value_dim - b * simd::float_lanes;
    const auto load = [&](std::size_t i) {
      return left >= simd::float_lanes ? simd::FloatBatch::load_unaligned(from + i * rows.stride)
                                       : simd::detail::load_tail(from + i * rows.stride, left);
    };
    std::array<simd::FloatBatch, n_partial> sums;
    simd::unroll<n_partial>(
        [&](auto j) LAZYMOE_INLINE { sums[j] = simd::FloatBatch::load_unaligned(partial + j * simd::float_lanes); });
    std::size_t i = 0;
    for (; i + n_partial <= n; i += n_partial) {
      simd::unroll<n_partial>(
          [&](auto j) LAZYMOE_INLINE { sums[j] = simd::fma(simd::FloatBatch(weights[i + j]), load(i + j), sums[j]); });
    }
    simd::unroll<n_partial>([&](auto j) LAZYMOE_INLINE {
      if (i + j < n) sums[j] = simd::fma(simd::FloatBatch(weights[i + j]), load(i + j), sums[j]);
    });
    simd::unroll<n_partial>([&](auto j) LAZYMOE_INLINE { sums[j].store_unaligned(partial + j * simd::float_lanes); });
  }

  /// Adds the partial sums of batch `b` up.
  void fold(float* partial, std::size_t b, float* sums) const noexcept {
    for (std::size_t half = n_partial / 2; half > 0; half /= 2) {
      simd::add(partial + half * simd::float_lanes, partial, half * simd::float_lanes);
    }
    const std::size_t first = b * simd::float_lanes;
    std::copy_n(partial, std::min(simd::float_lanes, value_dim - first), sums + first);
  }
};

/// Calls fn(i, scratch) for i < n, with scratch that is enough for `largest`.
/// @memory scratch for each thread, while this runs
/// @throws std::bad_alloc
template <class Fn>
void for_each_with_scratch(std::size_t n, const AttentionHeads& largest, parallel::ThreadPool& pool, Fn&& fn) {
  pool.parallel_for(n, 1, [&](std::size_t begin, std::size_t end) {
    AlignedBuffer scratch(largest.scratch() * sizeof(float));
    for (std::size_t i = begin; i < end; ++i) fn(i, reinterpret_cast<float*>(scratch.data()));
  });
}

}  // namespace lazymoe::models::detail
