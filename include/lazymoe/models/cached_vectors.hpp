#pragma once

#include <algorithm>
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

/// How keys and values are kept: half precision takes half the memory, as the reference does by default.
enum class KvType { f16, f32 };

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

  /// Dot product of `query` with the part of a vector that begins at element `first`.
  [[nodiscard]] float dot(LayerIndex layer, std::size_t position, std::size_t first,
                          std::span<const float> query) const noexcept {
    LAZYMOE_EXPECTS(first + query.size() <= width_);
    const std::byte* from = memory_.data() + place(layer, position) + first * elem_bytes_;
    if (elem_bytes_ == sizeof(float)) return dot<quant::F32>(from, query);
    return dot<quant::F16>(from, query);
  }

  /// `n` elements from `first` on, as floats: in place, or decoded into scratch[n].
  [[nodiscard]] const float* get(LayerIndex layer, std::size_t position, std::size_t first, std::size_t n,
                                 float* scratch) const noexcept {
    LAZYMOE_EXPECTS(first + n <= width_);
    const std::byte* from = memory_.data() + place(layer, position);
    if (elem_bytes_ == sizeof(float)) return reinterpret_cast<const float*>(from) + first;
    const auto* halves = reinterpret_cast<const quant::F16::Block*>(from) + first;
    quant::DecodeKernel<quant::F16, simd::DefaultArch>::run({halves, n}, scratch);
    return scratch;
  }

 private:
  [[nodiscard]] std::size_t place(LayerIndex layer, std::size_t position) const noexcept {
    LAZYMOE_EXPECTS(layer < n_layers_ && position < n_ctx_);
    return (layer * n_ctx_ + position) * width_ * elem_bytes_;
  }

  template <quant::BlockFormat F>
  [[nodiscard]] static float dot(const std::byte* packed, std::span<const float> x) noexcept {
    return quant::dot_float<F>({reinterpret_cast<const typename F::Block*>(packed), x.size()}, x);
  }

  std::size_t n_layers_;
  std::size_t n_ctx_;
  std::size_t width_;
  std::size_t elem_bytes_;
  AlignedBuffer memory_;
};

}  // namespace lazymoe::models
