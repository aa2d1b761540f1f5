#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "../core/buffer.hpp"
#include "../parallel/thread_pool.hpp"
#include "../quant/activation.hpp"
#include "../quant/format.hpp"
#include "aliases.hpp"

namespace lazymoe::tensor {

/// The rows of a batch, rounded once for each kind of weight they meet: query, key and value projections share one
/// rounding, and so do all experts of a layer.
///
/// @memory keeps its buffers between batches
/// @thread one thread assigns and prepares; rows may then be read by all
class Activations {
 public:
  /// Borrows x[tokens, width] until the next assign(); forgets what was rounded before.
  void assign(const ConstRows& x) {
    data_ = x.data();
    stride_ = static_cast<std::size_t>(x.outerStride());
    tokens_ = row_count(x);
    width_ = width(x);
    for (auto& rounded : rounded_) rounded.n_valid = 0;
  }

  /// More rows of what was assigned have got their values: `n` in all, of which those rounded before are kept.
  /// @pre n >= tokens(); the rows lie behind those of the last assign(), at the same distance
  void extend(std::size_t n) noexcept { tokens_ = n; }

  [[nodiscard]] std::size_t tokens() const noexcept { return tokens_; }
  [[nodiscard]] std::size_t cols() const noexcept { return width_; }

  /// Rounds those rows to `kind` that have not been.
  void prepare(quant::ActivationKind kind, parallel::ThreadPool& pool) {
    Rounded& rounded = rounded_[static_cast<std::size_t>(kind)];
    if (rounded.n_valid >= tokens_) return;
    const std::size_t used_bytes = quant::activation_bytes(kind, width_);
    // An odd number of cache lines, so that the rows of a tile do not compete for the same places of the cache.
    rounded.row_bytes = align_up(used_bytes, std::size_t{64}) | 64;
    grow(rounded);
    const std::size_t first = rounded.n_valid;
    pool.parallel_for(tokens_ - first, 1 + 4096 / (width_ + 1), [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = first + begin; t < first + end; ++t) {
        quant::quantize_activation(kind, std::span<const float>(data_ + t * stride_, width_),
                                   rounded.bytes.bytes().subspan(t * rounded.row_bytes, used_bytes));
      }
    });
    rounded.n_valid = tokens_;
  }

  /// Row `t` as blocks of format `F`'s activation.
  /// @pre prepare(F::activation) came after assign()
  template <quant::BlockFormat F>
  [[nodiscard]] const quant::ActivationBlock<F>* row(std::size_t t) const noexcept {
    const Rounded& rounded = rounded_[static_cast<std::size_t>(F::activation)];
    return reinterpret_cast<const quant::ActivationBlock<F>*>(rounded.bytes.data() + t * rounded.row_bytes);
  }

 private:
  struct Rounded {
    AlignedBuffer bytes;
    std::size_t row_bytes = 0;
    std::size_t n_valid = 0;  ///< rows
  };

  void grow(Rounded& rounded) const {
    const std::size_t needed = rounded.row_bytes * tokens_;
    if (rounded.bytes.size() >= needed) return;
    AlignedBuffer larger(needed);
    std::copy_n(rounded.bytes.data(), rounded.row_bytes * rounded.n_valid, larger.data());
    rounded.bytes = std::move(larger);
  }

  const float* data_ = nullptr;
  std::size_t stride_ = 0;
  std::size_t tokens_ = 0;
  std::size_t width_ = 0;
  std::array<Rounded, 6> rounded_;  // by ActivationKind
};

}  // namespace lazymoe::tensor
