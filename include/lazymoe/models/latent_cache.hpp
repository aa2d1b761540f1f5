#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "cached_vectors.hpp"
#include "state.hpp"

namespace lazymoe::models {

/// What latent attention remembers of each token: one vector a layer, which all heads read as their key, and its
/// beginning as their value. Positions are written in order and can be taken back from the end.
///
/// @shape  [n_layers, n_ctx, width]
/// @memory reserved at construction; pages are taken as positions are written
class LatentCache {
 public:
  LatentCache(std::size_t n_layers, std::size_t n_ctx, std::size_t width, KvType type)
      : n_ctx_(n_ctx), vectors_(n_layers, n_ctx, width, type) {}

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return n_ctx_; }
  [[nodiscard]] Bytes bytes() const noexcept { return vectors_.bytes(); }
  [[nodiscard]] std::size_t width() const noexcept { return vectors_.width(); }

  /// Makes `n` positions count that all layers have written.
  void advance(std::size_t n) noexcept {
    LAZYMOE_EXPECTS(length_ + n <= capacity());
    length_ += n;
  }
  /// Forgets what comes after the first `length` positions.
  std::size_t rewind(std::size_t length) noexcept { return length_ = std::min(length_, length); }
  void keep() noexcept {}     // every position can be come back to
  void abandon() noexcept {}  // what was written after length() does not count

  void write(LayerIndex layer, std::size_t position, std::span<const float> x) noexcept {
    vectors_.write(layer, position, x);
  }

  /// The first `n_elems` elements of `n` vectors from position `first` on, as CachedVectors::rows() gives them.
  [[nodiscard]] CachedRows get(LayerIndex layer, std::size_t first, std::size_t n, std::size_t n_elems,
                               float* scratch) const noexcept {
    return vectors_.rows(layer, first, n, 0, n_elems, scratch);
  }

 private:
  std::size_t n_ctx_;
  CachedVectors vectors_;
  std::size_t length_ = 0;
};
static_assert(SequenceState<LatentCache>);

}  // namespace lazymoe::models
