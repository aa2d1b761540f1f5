#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "../../core/bytes.hpp"
#include "../../core/types.hpp"
#include "../../simd/math.hpp"
#include "../../simd/vector.hpp"
#include "../../tensor/dot.hpp"
#include "../latent_cache.hpp"

namespace lazymoe::models::detail {

/// Some heads of one token of latent attention: softmax of their scores, then the sums of cached vectors by it.
///
/// Cached vectors are decoded in blocks that the second-level cache holds, and meet all heads there. The order of sums
/// depends on nothing but the position: position p adds to partial sum p % 8, and these are added as a register of
/// eight lanes folds, as in the reference.
struct LatentHeads {
  std::size_t n_heads = 0;
  std::size_t n_positions = 0;
  std::size_t width = 0;  ///< of a cached vector
  std::size_t rank = 0;   ///< leading numbers of it that are summed
  float scale = 1.0F;     ///< of scores

  /// Floats that run() needs: whole cache lines.
  [[nodiscard]] std::size_t scratch() const noexcept {
    return lines(n_heads * n_positions) + n_heads * n_batches() * batch_floats + lines(block * width);
  }

  /// @shape queries[n_heads, width], scratch[scratch()] -> sums[n_heads, rank]
  /// @cost  loads that straddle cache lines take a fifth more time: better that scratch begins a line
  void run(const LatentCache& cache, LayerIndex layer, const float* queries, float* sums,
           float* scratch) const noexcept {
    float* scores = scratch;                                 // [n_heads, n_positions]
    float* partial = scores + lines(n_heads * n_positions);  // [n_heads, n_batches(), n_partial, lanes]
    float* decoded = partial + n_heads * n_batches() * batch_floats;
    for (std::size_t first = 0; first < n_positions; first += block) {
      const std::size_t n = std::min(block, n_positions - first);
      const float* rows = cache.get(layer, first, n, width, decoded);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t h = 0; h < n_heads; ++h) {
          scores[h * n_positions + first + i] = scale * tensor::dot({rows + i * width, width}, {queries + h * width, width});
        }
      }
    }
    for (std::size_t h = 0; h < n_heads; ++h) simd::softmax(scores + h * n_positions, n_positions);

    std::fill(partial, decoded, 0.0F);
    for (std::size_t first = 0; first < n_positions; first += block) {
      const std::size_t n = std::min(block, n_positions - first);
      const float* rows = cache.get(layer, first, n, rank, decoded);
      for (std::size_t b = 0; b < n_batches(); ++b) {
        for (std::size_t h = 0; h < n_heads; ++h) {
          add_block(scores + h * n_positions + first, rows, n, b, partial + (h * n_batches() + b) * batch_floats);
        }
      }
    }
    for (std::size_t h = 0; h < n_heads; ++h) {
      for (std::size_t b = 0; b < n_batches(); ++b) {
        fold(partial + (h * n_batches() + b) * batch_floats, b, sums + h * rank);
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

  [[nodiscard]] std::size_t n_batches() const noexcept { return (rank + simd::float_lanes - 1) / simd::float_lanes; }

  /// Adds batch `b` of n weighted rows to its partial sums [n_partial, lanes].
  void add_block(const float* weights, const float* rows, std::size_t n, std::size_t b, float* partial) const noexcept {
    const float* from = rows + b * simd::float_lanes;
    const std::size_t left = rank - b * simd::float_lanes;
    const auto load = [&](std::size_t i) {
      return left >= simd::float_lanes ? simd::FloatBatch::load_unaligned(from + i * width)
                                       : simd::detail::load_tail(from + i * width, left);
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
    std::copy_n(partial, std::min(simd::float_lanes, rank - first), sums + first);
  }
};

}  // namespace lazymoe::models::detail
