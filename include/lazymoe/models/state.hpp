#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "cached_vectors.hpp"

namespace lazymoe::models {

/// What a family's layers remember of the tokens before.
///
/// Law: after rewind(n) returned m <= n, the tokens from m on give the bits they gave before
// clang-format off
template <class S>
concept SequenceState = std::movable<S> && requires(S state, const S& fixed, std::size_t n) {
  { fixed.length() } noexcept -> std::same_as<std::size_t>;
  { fixed.capacity() } noexcept -> std::same_as<std::size_t>;
  { fixed.bytes() } noexcept -> std::same_as<Bytes>;
  state.advance(n);                                            // the batch's positions count
  { state.rewind(n) } noexcept -> std::same_as<std::size_t>;   // see Sequence::rewind()
  state.keep();                                                // see Sequence::keep()
  { state.abandon() } noexcept;                                // a batch failed half-way
};
// clang-format on

/// Keys and values of one sequence, for all layers. Positions are written in order and can be taken back from the end.
///
/// @shape keys[n_layers, n_ctx, n_kv_heads * key_dim], values[n_layers, n_ctx, n_kv_heads * value_dim]
/// @memory reserved at construction; pages are taken as positions are written
class KvCache {
 public:
  struct Shape {
    std::size_t n_layers = 0;
    std::size_t n_ctx = 0;  ///< positions
    std::size_t key_width = 0;
    std::size_t value_width = 0;
  };

  KvCache(Shape shape, KvType type)
      : n_ctx_(shape.n_ctx),
        keys_(shape.n_layers, shape.n_ctx, shape.key_width, type),
        values_(shape.n_layers, shape.n_ctx, shape.value_width, type) {}

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return n_ctx_; }
  [[nodiscard]] Bytes bytes() const noexcept { return keys_.bytes() + values_.bytes(); }

  /// Makes `n` positions count that all layers have written.
  void advance(std::size_t n) noexcept {
    LAZYMOE_EXPECTS(length_ + n <= capacity());
    length_ += n;
  }
  /// Forgets what comes after the first `length` positions.
  std::size_t rewind(std::size_t length) noexcept { return length_ = std::min(length_, length); }
  void keep() noexcept {}  // every position can be come back to
  void abandon() noexcept {}  // what was written after length() does not count

  void write(LayerIndex layer, std::size_t position, std::span<const float> key,
             std::span<const float> value) noexcept {
    keys_.write(layer, position, key);
    values_.write(layer, position, value);
  }

  /// Of `n` positions the `n_elems` elements from `first` on, one head: as CachedVectors::rows() gives them.
  [[nodiscard]] CachedRows keys(LayerIndex layer, std::size_t position, std::size_t n, std::size_t first,
                                std::size_t n_elems, float* scratch) const noexcept {
    return keys_.rows(layer, position, n, first, n_elems, scratch);
  }
  [[nodiscard]] CachedRows values(LayerIndex layer, std::size_t position, std::size_t n, std::size_t first,
                                  std::size_t n_elems, float* scratch) const noexcept {
    return values_.rows(layer, position, n, first, n_elems, scratch);
  }

 private:
  std::size_t n_ctx_;
  CachedVectors keys_;
  CachedVectors values_;
  std::size_t length_ = 0;
};
static_assert(SequenceState<KvCache>);

}  // namespace lazymoe::models
