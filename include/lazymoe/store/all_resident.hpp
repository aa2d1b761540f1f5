#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/types.hpp"
#include "../experts/expert_map.hpp"
#include "../gguf/file.hpp"
#include "../io/huge_pages.hpp"
#include "../storage/pread.hpp"
#include "../storage/storage.hpp"
#include "detail/expert_reads.hpp"
#include "slot_plan.hpp"
#include "source.hpp"

namespace lazymoe::store {

/// Every expert in memory from the start: the baseline that every cache is compared with.
///
/// @memory all experts; none of its own if the storage returns views (Mmap)
/// @thread safe, without locks
template <storage::StoragePolicy Storage = storage::Pread>
class AllResident final : public ExpertSource, private LeaseKeeper {
 public:
  /// Told how many bytes of how many have been read.
  using Progress = std::function<void(Bytes done, Bytes total)>;

  /// @throws Error{io, unsupported_model, bad_tensor}
  explicit AllResident(const gguf::File& file, const Progress& progress = {})
      : AllResident(file, Storage(file.paths()), progress) {}

  /// From a storage of one's own.
  AllResident(const gguf::File& file, Storage storage, const Progress& progress = {})
      : map_(file), storage_(std::move(storage)), views_(map_.space().size()) {
    const Bytes padding = storage::padding(storage_);
    Bytes needed = 0;
    for_each_expert([&](const experts::LayerExperts& layer, ExpertKey) {
      if (storage_.footprint(layer.gate.slice(0)) != 0) needed += SlotPlan::slot_bytes_of(layer, padding);
    });
    memory_ = AlignedBuffer(static_cast<std::size_t>(needed));
    io::prefer_huge_pages(memory_.bytes());
    std::span<std::byte> free = memory_.bytes();
    Bytes done = 0;
    for_each_expert([&](const experts::LayerExperts& layer, ExpertKey key) {
      const auto slot = free.first(needed == 0 ? 0 : static_cast<std::size_t>(SlotPlan::slot_bytes_of(layer, padding)));
      free = free.subspan(slot.size());
      views_[index(key)] = detail::fetch_expert(storage_, layer, map_.space().expert(key), slot);
      done += layer.bytes();
      if (progress) progress(done, map_.total_bytes());
    });
  }

  AllResident(const AllResident&) = delete;
  AllResident& operator=(const AllResident&) = delete;

  [[nodiscard]] Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts,
                               Use = Use::step) override {
    std::vector<SlotIndex> slots;
    slots.reserve(experts.size());
    for (const ExpertIndex e : experts) slots.push_back(SlotIndex{static_cast<std::uint32_t>(map_.space().key(layer, e))});
    return {*this, std::move(slots)};
  }

  [[nodiscard]] bool resident(LayerIndex, ExpertIndex) const override { return true; }
  [[nodiscard]] const experts::ExpertMap& map() const noexcept { return map_; }

 private:
  template <class Fn>
  void for_each_expert(Fn&& fn) const {
    for (LayerIndex layer = 0; layer < map_.space().layers; ++layer) {
      if (!map_.has_experts(layer)) continue;
      for (ExpertIndex e = 0; e < map_.space().experts; ++e) fn(map_.layer(layer), map_.space().key(layer, e));
    }
  }

  [[nodiscard]] bool ready(SlotIndex, Extent) const override { return true; }
  [[nodiscard]] ExpertView wait(SlotIndex slot, Extent) override { return views_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] std::uint64_t arrivals() override { return 0; }
  void wait_arrival(std::uint64_t, SlotIndex) override {}  // nobody waits: all is ready
  void release(std::span<const SlotIndex>) noexcept override {}

  experts::ExpertMap map_;
  Storage storage_;
  std::vector<ExpertView> views_;  // by key
  AlignedBuffer memory_;
};

}  // namespace lazymoe::store
