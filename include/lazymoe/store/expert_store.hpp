#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../experts/expert_map.hpp"
#include "../gguf/file.hpp"
#include "../instrument/counters.hpp"
#include "../instrument/stopwatch.hpp"
#include "../io/huge_pages.hpp"
#include "../parallel/io_queue.hpp"
#include "detail/fetch_expert.hpp"
#include "detail/resident_set.hpp"
#include "policies.hpp"
#include "slot_plan.hpp"
#include "source.hpp"

namespace lazymoe::store {

struct StoreOptions {
  ExpertBudget budget = {};  ///< what may be resident; everything by default
  unsigned io_threads = 4;   ///< reads under way at once
};

/// Keeps the experts in use in memory, under a budget, and reads the others when they are asked for.
///
/// One mapping is cut into slots at construction; an eviction hands a slot over, and nothing is mapped or freed per
/// token. Which experts are evicted depends on the order of acquire() calls and of the ends of their leases, not on
/// when reads arrive.
///
/// @memory the slots of the plan, never more; storages that return views of their own (Mmap) need no slots, and are
///         told to discard what is evicted
/// @thread safe
template <StorePolicies P = DefaultPolicies>
class ExpertStore final : public ExpertSource, private LeaseKeeper {
 public:
  using Storage = typename P::Storage;
  using Eviction = typename P::Eviction;

  /// @param  make_eviction for policies that need to be told more than the key space; called for every class of slots
  /// @throws Error{over_budget} when the budget is below one layer's chosen experts
  ExpertStore(experts::ExpertMap map, Storage storage, const StoreOptions& options,
              const std::function<Eviction(KeySpace)>& make_eviction = [](KeySpace space) { return Eviction(space); })
      : map_(std::move(map)),
        plan_(map_, options.budget, storage::padding(storage)),
        storage_(std::move(storage)),
        resident_(map_, plan_, make_eviction),
        contents_(plan_.n_slots()),
        lines_(plan_.classes().size()),
        counters_(map_.space().layers),
        memory_(views_in_place() ? 0 : static_cast<std::size_t>(plan_.total_bytes()), AlignedBuffer::page),
        queue_(options.io_threads) {
    io::prefer_huge_pages(memory_.bytes());
    std::span<std::byte> free = memory_.bytes();
    std::size_t slot = 0;
    for (const SlotClass& c : plan_.classes()) {
      for (std::size_t i = 0; i < c.n_slots && !free.empty(); ++i) {
        contents_[slot++].memory = free.first(static_cast<std::size_t>(c.slot_bytes));
        free = free.subspan(static_cast<std::size_t>(c.slot_bytes));
      }
    }
  }

  ExpertStore(const ExpertStore&) = delete;
  ExpertStore& operator=(const ExpertStore&) = delete;

  /// @shape  experts[k], distinct, k <= max_leases(layer) -> Leases of size k, same order
  /// @throws Error{io} from Leases::wait(): the failed expert is read again by the next that wants it
  /// @thread waits while others pin too many slots; calls are served in order, so that a large one is not overtaken
  ///         for ever
  /// @cost   hit: O(1) per expert. miss: a read per matrix (one for a fused gate and up), all submitted at once
  [[nodiscard]] Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts) override {
    LAZYMOE_EXPECTS(map_.has_experts(layer) && experts.size() <= max_leases(layer));
    std::vector<detail::Claim> claims;
    claims.reserve(experts.size());
    std::vector<SlotIndex> slots;
    slots.reserve(experts.size());  // what may throw comes before the pins
    {
      std::unique_lock lock(mutex_);
      Line& line = lines_[plan_.class_of(layer)];
      const std::uint64_t turn = line.next++;
      released_.wait(lock, [&] { return line.served == turn && resident_.claim(layer, experts, claims); });
      ++line.served;
      if (line.served != line.next) released_.notify_all();
      count(layer, claims);
    }
    for (const detail::Claim& claim : claims) slots.push_back(claim.slot);
    Leases leases(*this, std::move(slots));
    for (const detail::Claim& claim : claims) {
      if (claim.kind != detail::Claim::Kind::miss) continue;
      if (claim.evicted) discard(*claim.evicted);
      if (views_in_place() || !submit(claim.slot, claim.key)) read(claim.slot, claim.key);
    }
    return leases;
  }

  [[nodiscard]] std::size_t max_leases(LayerIndex layer) const noexcept override { return resident_.n_slots(layer); }

  [[nodiscard]] bool resident(LayerIndex layer, ExpertIndex expert) const override {
    const std::lock_guard lock(mutex_);
    return resident_.resident(map_.space().key(layer, expert));
  }

  [[nodiscard]] instrument::LayeredCounters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

  [[nodiscard]] const experts::ExpertMap& map() const noexcept { return map_; }
  [[nodiscard]] const SlotPlan& plan() const noexcept { return plan_; }

  /// True if no lease and no read holds a slot.
  [[nodiscard]] bool idle() const {
    const std::lock_guard lock(mutex_);
    return resident_.idle();
  }

 private:
  struct Content {
    std::span<std::byte> memory;
    ExpertView view;
    std::exception_ptr failure;
  };

  /// Those who wait for slots of one class, first come, first served.
  struct Line {
    std::uint64_t next = 0;
    std::uint64_t served = 0;
  };

  /// Whether the storage returns views of its own, so that slots need no memory.
  [[nodiscard]] bool views_in_place() const noexcept {
    for (LayerIndex layer = 0; layer < map_.space().layers; ++layer) {
      if (map_.has_experts(layer)) return storage_.footprint(map_.layer(layer).gate.slice(0)) == 0;
    }
    return true;
  }

  void count(LayerIndex layer, std::span<const detail::Claim> claims) noexcept {
    instrument::StoreCounters counted;
    for (const detail::Claim& claim : claims) {
      switch (claim.kind) {
        case detail::Claim::Kind::hit: ++counted.hits; break;
        case detail::Claim::Kind::joined: ++counted.joined; break;
        case detail::Claim::Kind::miss: ++counted.misses; break;
      }
      if (claim.evicted) ++counted.evictions;
    }
    counters_.add(layer, counted);
  }

  /// Has another thread read; false if there is no memory to ask it.
  [[nodiscard]] bool submit(SlotIndex slot, ExpertKey key) noexcept {
    try {
      queue_.submit(parallel::Priority::demand, [this, slot, key] { read(slot, key); });
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  /// Runs without the lock: the slot is the read's alone until it arrives.
  void read(SlotIndex slot, ExpertKey key) noexcept {
    const LayerIndex layer = map_.space().layer(key);
    const experts::LayerExperts& experts = map_.layer(layer);
    Content& content = contents_[static_cast<std::size_t>(slot)];
    instrument::StoreCounters counted;
    try {
      content.failure = nullptr;
      content.view = detail::fetch_expert(storage_, experts, map_.space().expert(key), content.memory);
      counted.reads = detail::reads_per_expert(experts);
      counted.bytes_read = experts.bytes();
    } catch (...) {
      content.failure = std::current_exception();
    }
    // Notified under the lock: a waiter may destroy the store as soon as it is let go.
    const std::lock_guard lock(mutex_);
    counters_.add(layer, counted);
    resident_.arrive(slot, content.failure == nullptr);
    arrived_.notify_all();
    released_.notify_all();
  }

  void discard(ExpertKey key) noexcept {
    if constexpr (storage::DiscardableStorage<Storage>) {
      const auto slices = map_.slices(map_.space().layer(key), map_.space().expert(key));
      for (const auto& slice : {slices.gate, slices.up, slices.down}) storage_.discard(slice);
    }
  }

  [[nodiscard]] bool ready(SlotIndex slot) const override {
    const std::lock_guard lock(mutex_);
    return resident_.state(slot) != detail::SlotState::loading;
  }

  [[nodiscard]] ExpertView wait(SlotIndex slot) override {
    std::unique_lock lock(mutex_);
    if (resident_.state(slot) == detail::SlotState::loading) {
      const instrument::Stopwatch watch;
      arrived_.wait(lock, [&] { return resident_.state(slot) != detail::SlotState::loading; });
      counters_.add(map_.space().layer(resident_.key(slot)), {.wait_ns = watch.elapsed_ns()});
    }
    const Content& content = contents_[static_cast<std::size_t>(slot)];
    if (content.failure) std::rethrow_exception(content.failure);
    return content.view;
  }

  void release(std::span<const SlotIndex> slots) noexcept override {
    const std::lock_guard lock(mutex_);
    for (const SlotIndex slot : slots) resident_.unpin(slot);
    released_.notify_all();
  }

  experts::ExpertMap map_;
  SlotPlan plan_;
  Storage storage_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable released_;
  detail::ResidentSet<Eviction> resident_;  // guarded by mutex_
  std::vector<Content> contents_;           // by slot; written by the read that owns the slot
  std::vector<Line> lines_;                 // by slot class; guarded by mutex_
  instrument::LayeredCounters counters_;    // guarded by mutex_
  AlignedBuffer memory_;
  parallel::IoQueue queue_;  // last: its threads end before what they use
};

/// A store for the experts of `file`, with the policies of `P`.
/// @throws Error{unsupported_model, bad_tensor, over_budget, io}
template <StorePolicies P = DefaultPolicies>
[[nodiscard]] ExpertStore<P> make_store(const gguf::File& file, const StoreOptions& options = {}) {
  return ExpertStore<P>(experts::ExpertMap(file), typename P::Storage(file.paths()), options);
}

}  // namespace lazymoe::store
