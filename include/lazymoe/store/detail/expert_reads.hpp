#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "../../core/bytes.hpp"
#include "../../core/contract.hpp"
#include "../../experts/expert_map.hpp"
#include "../../storage/storage.hpp"
#include "../slot_plan.hpp"
#include "../view.hpp"

namespace lazymoe::store::detail {

[[nodiscard]] inline quant::PackedMatrix as_matrix(const experts::ExpertMatrix& matrix,
                                                   std::span<const std::byte> bytes) noexcept {
  return {.type = matrix.type,
          .rows = static_cast<std::size_t>(matrix.rows),
          .cols = static_cast<std::size_t>(matrix.cols()),
          .bytes = bytes};
}

/// The reads that bring one expert: gate, up and down, or gate and up at once where the file has them side by side.
class ExpertReads {
 public:
  static constexpr std::size_t most = 3;

  ExpertReads(const experts::LayerExperts& layer, ExpertIndex expert) noexcept : layer_(&layer) {
    const experts::SliceRef gate = layer.gate.slice(expert);
    const experts::SliceRef up = layer.up.slice(expert);
    if (gate.shard == up.shard && gate.offset + gate.bytes == up.offset) {
      slices_[n_++] = {.shard = gate.shard, .offset = gate.offset, .bytes = gate.bytes + up.bytes};
    } else {
      slices_[n_++] = gate;
      slices_[n_++] = up;
    }
    slices_[n_++] = layer.down.slice(expert);
  }

  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  [[nodiscard]] const experts::SliceRef& operator[](std::size_t i) const noexcept { return slices_[i]; }
  /// Whether read `i` brings down; the others come first.
  [[nodiscard]] bool is_down(std::size_t i) const noexcept { return i + 1 == n_; }

  /// The part of `slot` that read `i` of `storage` fills: what precedes it leaves every read on a cache line.
  /// @pre slot.size() is SlotPlan::slot_bytes_of(layer, storage::padding(storage)), or 0 if the storage returns views of
  ///      its own
  template <storage::StoragePolicy Storage>
  [[nodiscard]] std::span<std::byte> place(Storage& storage, std::size_t i, std::span<std::byte> slot) const noexcept {
    std::size_t at = 0;
    for (std::size_t before = 0; before < i; ++before) at += footprint(storage, before);
    return slot.empty() ? slot : slot.subspan(at, static_cast<std::size_t>(storage.footprint(slices_[i])));
  }

  /// Calls fn(matrix) for each matrix of read `i`, with its place in the view: ExpertView::gate, up or down.
  template <class Fn>
  void for_matrices(std::size_t i, std::span<const std::byte> bytes, Fn&& fn) const {
    const auto of = [&](const experts::ExpertMatrix& matrix, std::span<const std::byte> its) {
      return as_matrix(matrix, its);
    };
    LAZYMOE_EXPECTS(bytes.size() == slices_[i].bytes);
    if (is_down(i)) return fn(&ExpertView::down, of(layer_->down, bytes));
    if (n_ == most) {
      return i == 0 ? fn(&ExpertView::gate, of(layer_->gate, bytes)) : fn(&ExpertView::up, of(layer_->up, bytes));
    }
    const auto n_gate = static_cast<std::size_t>(layer_->gate.bytes());
    fn(&ExpertView::gate, of(layer_->gate, bytes.first(n_gate)));
    fn(&ExpertView::up, of(layer_->up, bytes.subspan(n_gate)));
  }

 private:
  template <storage::StoragePolicy Storage>
  [[nodiscard]] std::size_t footprint(Storage& storage, std::size_t i) const noexcept {
    return static_cast<std::size_t>(align_up(storage.footprint(slices_[i]), SlotPlan::slot_alignment));
  }

  const experts::LayerExperts* layer_;
  std::array<experts::SliceRef, most> slices_{};
  std::size_t n_ = 0;
};

/// Brings one expert into `slot` (or finds it in the storage's own memory) and returns its matrices.
/// @pre    as ExpertReads::place()
/// @throws Error{io}
template <storage::StoragePolicy Storage>
[[nodiscard]] ExpertView fetch_expert(Storage& from, const experts::LayerExperts& layer, ExpertIndex expert,
                                      std::span<std::byte> slot) {
  const ExpertReads reads(layer, expert);
  ExpertView view;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads.for_matrices(i, from.fetch(reads[i], reads.place(from, i, slot)),
                       [&](auto member, const quant::PackedMatrix& matrix) { view.*member = matrix; });
  }
  return view;
}

}  // namespace lazymoe::store::detail
