#pragma once

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

/// Whether gate and up of each expert are one range of the file, to be read at once.
[[nodiscard]] inline bool adjacent(const experts::SliceRef& a, const experts::SliceRef& b) noexcept {
  return a.shard == b.shard && a.offset + a.bytes == b.offset;
}

/// Number of reads that one expert of `layer` costs.
[[nodiscard]] inline std::size_t reads_per_expert(const experts::LayerExperts& layer) noexcept {
  return adjacent(layer.gate.slice(0), layer.up.slice(0)) ? 2 : 3;
}

/// Brings one expert into `slot` (or finds it in the storage's own memory) and returns its matrices.
/// @pre    slot.size() is SlotPlan::slot_bytes_of(layer, storage::padding(from)), or 0 if the storage returns views of its own
/// @throws Error{io}
template <storage::StoragePolicy Storage>
[[nodiscard]] ExpertView fetch_expert(Storage& from, const experts::LayerExperts& layer, ExpertIndex expert,
                                      std::span<std::byte> slot) {
  const auto fetch = [&](const experts::SliceRef& slice) {
    const auto footprint = static_cast<std::size_t>(from.footprint(slice));
    LAZYMOE_EXPECTS(footprint <= slot.size());
    const auto view = from.fetch(slice, slot.first(footprint));
    slot = slot.subspan(align_up(footprint, std::size_t{SlotPlan::slot_alignment}));
    return view;
  };
  const experts::SliceRef gate = layer.gate.slice(expert);
  const experts::SliceRef up = layer.up.slice(expert);
  ExpertView view;
  if (adjacent(gate, up)) {
    const auto both = fetch({.shard = gate.shard, .offset = gate.offset, .bytes = gate.bytes + up.bytes});
    view.gate = as_matrix(layer.gate, both.first(static_cast<std::size_t>(gate.bytes)));
    view.up = as_matrix(layer.up, both.subspan(static_cast<std::size_t>(gate.bytes)));
  } else {
    view.gate = as_matrix(layer.gate, fetch(gate));
    view.up = as_matrix(layer.up, fetch(up));
  }
  view.down = as_matrix(layer.down, fetch(layer.down.slice(expert)));
  return view;
}

}  // namespace lazymoe::store::detail
