#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include "../core/buffer.hpp"
#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../quant/decode.hpp"
#include "../quant/dot.hpp"
#include "../quant/formats/plain.hpp"
#include "../quant/half.hpp"

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

/// How keys and values are kept: half precision takes half the memory, as the reference does by default.
enum class KvType { f16, f32 };

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
      : shape_(shape),
        elem_bytes_(type == KvType::f32 ? sizeof(float) : sizeof(quant::Half)),
        keys_(shape.n_layers * shape.n_ctx * shape.key_width * elem_bytes_),
        values_(shape.n_layers * shape.n_ctx * shape.value_width * elem_bytes_) {}

  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return shape_.n_ctx; }
  [[nodiscard]] Bytes bytes() const noexcept { return keys_.size() + values_.size(); }

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
    LAZYMOE_EXPECTS(key.size() == shape_.key_width && value.size() == shape_.value_width);
    put(key, keys_.data() + place(layer, position, shape_.key_width));
    put(value, values_.data() + place(layer, position, shape_.value_width));
  }

  /// Dot product of a query head with the part of a key that begins at element `first`.
  [[nodiscard]] float key_dot(LayerIndex layer, std::size_t position, std::size_t first,
                              std::span<const float> query) const noexcept {
    const std::byte* key = keys_.data() + place(layer, position, shape_.key_width) + first * elem_bytes_;
    if (elem_bytes_ == sizeof(float)) return dot<quant::F32>(key, query);
    return dot<quant::F16>(key, query);
  }

  /// `n` elements of a value from `first` on (one head), as floats: in place, or decoded into `scratch`.
  [[nodiscard]] const float* value(LayerIndex layer, std::size_t position, std::size_t first, std::size_t n,
                                   float* scratch) const noexcept {
    return get(values_.data() + place(layer, position, shape_.value_width), first, n, scratch);
  }

 private:
  [[nodiscard]] std::size_t place(LayerIndex layer, std::size_t position, std::size_t width) const noexcept {
    LAZYMOE_EXPECTS(layer < shape_.n_layers && position < shape_.n_ctx);
    return (layer * shape_.n_ctx + position) * width * elem_bytes_;
  }

  template <quant::BlockFormat F>
  [[nodiscard]] static float dot(const std::byte* packed, std::span<const float> x) noexcept {
    return quant::dot_float<F>({reinterpret_cast<const typename F::Block*>(packed), x.size()}, x);
  }

  void put(std::span<const float> from, std::byte* to) const noexcept {
    if (elem_bytes_ == sizeof(float)) {
      std::copy(from.begin(), from.end(), reinterpret_cast<float*>(to));
    } else {
      auto* halves = reinterpret_cast<quant::Half*>(to);
      for (std::size_t i = 0; i < from.size(); ++i) halves[i] = quant::to_half(from[i]);
    }
  }

  [[nodiscard]] const float* get(const std::byte* from, std::size_t first, std::size_t n,
                                 float* scratch) const noexcept {
    if (elem_bytes_ == sizeof(float)) return reinterpret_cast<const float*>(from) + first;
    const auto* halves = reinterpret_cast<const quant::F16::Block*>(from) + first;
    quant::DecodeKernel<quant::F16, simd::DefaultArch>::run({halves, n}, scratch);
    return scratch;
  }

  Shape shape_;
  std::size_t elem_bytes_;
  AlignedBuffer keys_;
  AlignedBuffer values_;
  std::size_t length_ = 0;
};
static_assert(SequenceState<KvCache>);

}  // namespace lazymoe::models
