#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "state.hpp"

namespace lazymoe::models {

/// What the DeltaNet layers of one sequence remember: a few numbers a layer, however long the sequence is. It is
/// overwritten by every token, so it can be taken back only to the start and to the positions that were kept.
///
/// @memory as much as bytes() says; a snapshot's part is taken when it is first kept, and used again
class RecurrentState {
 public:
  struct Shape {
    std::size_t n_layers = 0;
    std::size_t n_channels = 0;  ///< of the convolution
    std::size_t n_tail = 0;      ///< tokens that the convolution looks back
    std::size_t n_key_heads = 0;
    std::size_t n_value_heads = 0;
    std::size_t head_dim = 0;
    std::size_t chunk = 0;  ///< tokens of a chunk; 0: the recurrence runs token after token
  };

  /// The numbers of one layer.
  ///
  /// In chunks, matrices lie as DeltaChunk wants them. Between two multiples of the chunk, `memory` is what it was at the last of them, and the tokens since lie in the
  /// last three arrays.
  struct Layer {
    float* tail;    ///< [n_tail, n_channels]: what went into the convolution last, oldest first
    float* memory;  ///< [n_value_heads, head_dim, head_dim]: [value][key] token after token, [key][value] in chunks
    float* keys;    ///< [n_key_heads, chunk, head_dim]
    float* deltas;  ///< [n_value_heads, chunk, head_dim]: what each token adds to the memory along its key
    float* decays;  ///< [n_value_heads, chunk]: logarithms, summed from the chunk's start
  };

  RecurrentState(const Shape& shape, std::size_t n_snapshots)
      : shape_(shape),
        memory_at_(whole_lines(shape.n_tail * shape.n_channels)),
        keys_at_(memory_at_ + whole_lines(shape.n_value_heads * shape.head_dim * shape.head_dim)),
        deltas_at_(keys_at_ + whole_lines(shape.n_key_heads * shape.chunk * shape.head_dim)),
        decays_at_(deltas_at_ + whole_lines(shape.n_value_heads * shape.chunk * shape.head_dim)),
        layer_size_(decays_at_ + whole_lines(shape.n_value_heads * shape.chunk)),
        numbers_(shape.n_layers * layer_size_),
        n_snapshots_(n_snapshots) {
    snapshots_.reserve(n_snapshots);
  }

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t length() const noexcept { return length_; }
  /// Any number of tokens.
  [[nodiscard]] std::size_t capacity() const noexcept { return std::numeric_limits<std::size_t>::max(); }
  /// Of the state and of all its snapshots.
  [[nodiscard]] Bytes bytes() const noexcept { return (1 + n_snapshots_) * numbers_.size() * sizeof(float); }

  /// The numbers of the `index`-th recurrent layer, to be brought forward by a batch.
  [[nodiscard]] Layer layer(std::size_t index) noexcept {
    LAZYMOE_EXPECTS(index < shape_.n_layers);
    ahead_ = true;
    float* first = numbers_.data() + index * layer_size_;
    return {.tail = first,
            .memory = first + memory_at_,
            .keys = first + keys_at_,
            .deltas = first + deltas_at_,
            .decays = first + decays_at_};
  }

  /// Makes `n` positions count that all layers have taken.
  void advance(std::size_t n) noexcept {
    length_ += n;
    ahead_ = false;
  }

  /// Goes back to the last kept position that is not past `length`; the start is always one. Returns it.
  std::size_t rewind(std::size_t length) noexcept {
    if (length >= length_ && !ahead_) return length_;
    // What was kept of the tokens that are forgotten is worth nothing.
    while (n_kept_ > 0 && snapshots_[n_kept_ - 1].position > length) --n_kept_;
    if (n_kept_ == 0) {
      std::fill_n(numbers_.data(), numbers_.size(), 0.0F);
      length_ = 0;
    } else {
      const Snapshot& last = snapshots_[n_kept_ - 1];
      std::copy_n(last.numbers.data(), numbers_.size(), numbers_.data());
      length_ = last.position;
    }
    ahead_ = false;
    return length_;
  }

  /// Makes the present length a position that can be come back to, in place of the oldest if there are too many.
  /// @throws std::bad_alloc before anything has changed
  void keep() {
    LAZYMOE_EXPECTS(!ahead_);
    if (n_snapshots_ == 0 || length_ == 0) return;
    if (n_kept_ > 0 && snapshots_[n_kept_ - 1].position == length_) return;
    if (n_kept_ == n_snapshots_) {
      std::rotate(snapshots_.begin(), snapshots_.begin() + 1, snapshots_.end());
      --n_kept_;
    } else if (n_kept_ == snapshots_.size()) {
      snapshots_.push_back({.position = 0, .numbers = AlignedArray<float>(numbers_.size())});
    }
    Snapshot& next = snapshots_[n_kept_++];
    next.position = length_;
    std::copy_n(numbers_.data(), numbers_.size(), next.numbers.data());
  }

  /// Forgets a batch that some layers have taken and others not: the state falls back to the last kept position.
  void abandon() noexcept { rewind(length_); }

 private:
  struct Snapshot {
    std::size_t position = 0;
    AlignedArray<float> numbers;
  };

  static constexpr std::size_t whole_lines(std::size_t n) noexcept { return align_up(n, std::size_t{16}); }

  Shape shape_;
  std::size_t memory_at_;
  std::size_t keys_at_;
  std::size_t deltas_at_;
  std::size_t decays_at_;
  std::size_t layer_size_;
  AlignedArray<float> numbers_;
  std::size_t n_snapshots_;
  std::vector<Snapshot> snapshots_;  // by position; those past n_kept_ are memory to be used again
  std::size_t n_kept_ = 0;
  std::size_t length_ = 0;
  bool ahead_ = false;  // have layers taken tokens that do not count yet?
};
static_assert(SequenceState<RecurrentState>);

}  // namespace lazymoe::models
