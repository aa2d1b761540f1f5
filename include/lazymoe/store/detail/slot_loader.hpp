#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "../../core/buffer.hpp"
#include "../../core/types.hpp"
#include "../../experts/expert_map.hpp"
#include "../../io/huge_pages.hpp"
#include "../../parallel/io_queue.hpp"
#include "../checksums.hpp"
#include "../lease.hpp"
#include "../slot_plan.hpp"
#include "expert_reader.hpp"
#include "resident_set.hpp"

namespace lazymoe::store::detail {

/// One mapping, cut into the slots of a plan, and the threads that bring experts into them. A slot is its reads' alone
/// until they have arrived: who decides that takes locks, the loader has none.
///
/// @memory the slots of the plan; none if the storage returns views of its own
/// @thread safe, for different slots
template <storage::StoragePolicy Storage, RepresentationPolicy Representation>
class SlotLoader {
 public:
  using Reader = ExpertReader<Storage, Representation>;
  /// Told, on whichever thread, that a read is over: slot, expert, number of the read, what it brought, or a failure.
  using OnArrival = std::function<void(SlotIndex, ExpertKey, std::size_t, const PartView&, std::exception_ptr)>;

  /// @param on_arrival must not throw
  SlotLoader(const experts::ExpertMap& map, const SlotPlan& plan, Storage storage, Checksums* checksums,
             unsigned io_threads, OnArrival on_arrival)
      : on_arrival_(std::move(on_arrival)),
        memory_(Reader::in_place(storage, map) ? 0 : static_cast<std::size_t>(plan.total_bytes()), AlignedBuffer::page),
        reader_(map, std::move(storage), checksums),
        slots_(plan.n_slots()),
        queue_(reader_.asynchronous() ? 0 : io_threads) {
    io::prefer_huge_pages(memory_.bytes());
    std::span<std::byte> free = memory_.bytes();
    std::size_t slot = 0;
    for (const SlotClass& c : plan.classes()) {
      for (std::size_t i = 0; i < c.n_slots && !free.empty(); ++i) {
        slots_[slot++].memory = free.first(static_cast<std::size_t>(c.slot_bytes));
        free = free.subspan(static_cast<std::size_t>(c.slot_bytes));
      }
    }
  }

  [[nodiscard]] ExpertReads reads(ExpertKey key) const noexcept { return reader_.reads(key); }
  [[nodiscard]] SlotPlan::SlotBytes slot_bytes() { return reader_.slot_bytes(); }

  /// Begins all reads of an expert that is missing; where the storage returns views of its own, they are over then.
  void load(const Claim& claim, parallel::Priority priority) noexcept {
    if (claim.evicted) discard(*claim.evicted);
    const auto [slot, key] = std::pair(claim.slot, claim.key);
    Slot& place = at(slot);
    place.key = key;
    const ExpertReads reads = reader_.reads(key);
    if (reader_.in_place()) reader_.will_need(reads);
    for (std::uint32_t i = 0; i < reads.size(); ++i) {
      std::exception_ptr failure;
      try {
        if (reader_.asynchronous()) {
          reader_.begin(reads, i, place.memory, tag(slot, i));
          n_under_way_.fetch_add(1);
          continue;
        }
        if (!reader_.in_place()) {
          queue_.submit(priority, [this, slot = slot, i] { read(slot, i); });  // small enough not to be allocated
          continue;
        }
      } catch (const std::bad_alloc&) {  // no memory to ask another thread: this one reads
      } catch (...) {
        failure = std::current_exception();
      }
      if (failure == nullptr) {
        read(slot, i);
      } else {
        on_arrival_(slot, key, i, {}, std::move(failure));
      }
    }
  }

  /// Whether the storage has reads under way by itself, which arrive when somebody calls collect() or collect_ready().
  [[nodiscard]] bool under_way() const noexcept { return n_under_way_.load() > 0; }

  /// Waits for one of them. @pre under_way(), and no other thread collects
  void collect() noexcept { end(reader_.next()); }

  /// Those that are over. @pre no other thread collects
  void collect_ready() noexcept {
    while (auto completed = reader_.poll()) end(std::move(*completed));
  }

  /// An expert has left its slot.
  void discard(ExpertKey key) noexcept { reader_.discard(key); }

  /// Returns the memory of a slot to the system; it will not be used any more.
  void give_back(SlotIndex slot) noexcept { io::give_back(at(slot).memory); }

 private:
  struct Slot {
    std::span<std::byte> memory;
    ExpertKey key{};
  };

  [[nodiscard]] Slot& at(SlotIndex slot) noexcept { return slots_[static_cast<std::size_t>(slot)]; }

  [[nodiscard]] static std::uint64_t tag(SlotIndex slot, std::uint32_t read) noexcept {
    return static_cast<std::uint64_t>(slot) * ExpertReads::most + read;
  }

  void end(storage::Completed completed) noexcept {
    n_under_way_.fetch_sub(1);
    const auto slot = static_cast<SlotIndex>(completed.tag / ExpertReads::most);
    const std::size_t i = completed.tag % ExpertReads::most;
    const ExpertKey key = at(slot).key;
    arrive(slot, i, [&] { return reader_.end(reader_.reads(key), key, i, std::move(completed)); });
  }

  void read(SlotIndex slot, std::size_t i) noexcept {
    const Slot& place = at(slot);
    arrive(slot, i, [&] { return reader_.read(reader_.reads(place.key), place.key, i, place.memory); });
  }

  /// Tells of a read, with what ending it gives or throws.
  template <class End>
  void arrive(SlotIndex slot, std::size_t i, End&& end) noexcept {
    const ExpertKey key = at(slot).key;
    PartView part;
    std::exception_ptr failure;
    try {
      part = end();
    } catch (...) {
      failure = std::current_exception();
    }
    on_arrival_(slot, key, i, part, std::move(failure));  // so that no reference outlives its arrival here
  }

  OnArrival on_arrival_;
  AlignedBuffer memory_;  // before the reader: what its storage has under way ends before the memory does
  Reader reader_;
  std::vector<Slot> slots_;
  std::atomic<std::ptrdiff_t> n_under_way_{0};  // never more than there are: one may be told of before it is counted
  parallel::IoQueue queue_;                     // last: its threads end before what they use
};

}  // namespace lazymoe::store::detail
