#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "../core/buffer.hpp"
#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../quant/decode.hpp"
#include "../quant/formats/plain.hpp"
#include "../quant/half.hpp"

namespace lazymoe::models {

/// How keys and values are kept: half precision takes half the memory, as the reference does by default.
enum class KvType { f16, f32 };

/// Vectors of some positions, the next `stride` floats after the last.
struct CachedRows {
  const float* first;
  std::size_t stride;
};

/// One vector for each layer and position.
///
/// @shape  [n_layers, n_ctx, width]
/// @memory reserved at construction; pages are taken as positions are written
class CachedVectors {
 public:
  CachedVectors(std::size_t n_layers, std::size_t n_ctx, std::size_t width, KvType type)
      : n_layers_(n_layers),
        n_ctx_(n_ctx),
        width_(width),
        elem_bytes_(type == KvType::f32 ? sizeof(float) : sizeof(quant::Half)),
        memory_(n_layers * n_ctx * width * elem_bytes_) {}

  [[nodiscard]] Bytes bytes() const noexcept { return memory_.size(); }
  [[nodiscard]] std::size_t width() const noexcept { return width_; }

  void write(LayerIndex layer, std::size_t position, std::span<const float> x) noexcept {
    LAZYMOE_EXPECTS(x.size() == width_);
    std::byte* to = memory_.data() + place(layer, position);
    if (elem_bytes_ == sizeof(float)) {
      std::copy(x.begin(), x.end(), reinterpret_cast<float*>(to));
    } else {
      auto* halves = reinterpret_cast<quant::Half*>(to);
      for (std::size_t i = 0; i < x.size(); ++i) halves[i] = quant::to_half(x[i]);
    }
  }

  /// The `n_elems` elements from `first` on of the vectors of `n` positions, as floats: in place, or decoded into
  /// scratch[n, n_elems].
  [[nodiscard]] CachedRows rows(LayerIndex layer, std::size_t position, std::size_t n, std::size_t first,
                                std::size_t n_elems, float* scratch) const noexcept {
    LAZYMOE_EXPECTS(n > 0 && position + n <= n_ctx_ && first + n_elems <= width_);
    const std::byte* from = memory_.data() + place(layer, position);
    if (elem_bytes_ == sizeof(float)) return {reinterpret_cast<const float*>(from) + first, width_};
    const auto* halves = reinterpret_cast<const quant::F16::Block*>(from) + first;
    for (std::size_t i = 0; i < n; ++i) {
      quant::DecodeKernel<quant::F16, simd::DefaultArch>::run({halves + i * width_, n_elems}, scratch + i * n_elems);
    }
    return {scratch, n_elems};
  }

 private:
  [[nodiscard]] std::size_t place(LayerIndex layer, std::size_t position) const noexcept {
    LAZYMOE_EXPECTS(layer < n_layers_ && position < n_ctx_);
    return (layer * n_ctx_ + position) * width_ * elem_bytes_;
  }

  std::size_t n_layers_;
  std::size_t n_ctx_;
  std::size_t width_;
  std::size_t elem_bytes_;
  AlignedBuffer memory_;
};

}  // namespace lazymoe::models
