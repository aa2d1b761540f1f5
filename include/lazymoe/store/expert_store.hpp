#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../experts/expert_map.hpp"
#include "../gguf/file.hpp"
#include "../instrument/counters.hpp"
#include "../instrument/stopwatch.hpp"
#include "../parallel/io_queue.hpp"
#include "detail/guesses.hpp"
#include "detail/ledger.hpp"
#include "detail/resident_set.hpp"
#include "detail/slot_contents.hpp"
#include "detail/slot_loader.hpp"
#include "detail/turns.hpp"
#include "detail/waiters.hpp"
#include "options.hpp"
#include "policies.hpp"
#include "slot_plan.hpp"
#include "source.hpp"

namespace lazymoe::store {

/// Keeps the experts in use in memory, under a budget, and reads the others when they are asked for.
///
/// One mapping is cut into slots at construction; an eviction hands a slot over, and nothing is mapped or freed per
/// token. Without prefetch, which experts are evicted depends on the order of acquire() calls and of the ends of their
/// leases, not on when reads arrive.
///
/// @memory the slots of the plan, never more; storages that return views of their own (Mmap) need no slots, and are
///         told to discard what is evicted. A representation that packs anew has a buffer for each io_thread beside them
/// @thread safe
template <StorePolicies P = DefaultPolicies>
class ExpertStore final : public ExpertSource, private LeaseKeeper {
 public:
  using Storage = typename P::Storage;
  using Eviction = typename P::Eviction;
  using Representation = typename P::Representation;
  using Prefetch = typename P::Prefetch;

  /// @param  make_eviction for policies that need to be told more than the key space; called for every class of slots
  /// @throws Error{over_budget} when the budget is below one layer's chosen experts
  ExpertStore(experts::ExpertMap map, Storage storage, const StoreOptions& options,
              const std::function<Eviction(KeySpace)>& make_eviction = [](KeySpace space) { return Eviction(space); },
              Prefetch prefetch = {})
      : map_(std::move(map)),
        plan_(map_, options.budget, Loader::Reader::slot_bytes(storage)),
        waiters_(mutex_, loader_),
        resident_(map_, plan_, make_eviction),
        contents_(plan_.n_slots()),
        turns_(plan_.classes().size()),
        ledger_(map_.space().layers),
        guesses_(map_, resident_, std::move(prefetch), options.prefetches),
        loader_(map_, plan_, std::move(storage), options.checksums, options.io_threads,
                [this](SlotIndex slot, ExpertKey key, std::size_t i, const detail::PartView& part,
                       std::exception_ptr failure) { arrive(slot, key, i, part, std::move(failure)); }) {}

  /// The smallest budget that the constructor accepts.
  [[nodiscard]] static Bytes floor_bytes(const experts::ExpertMap& map, Storage& storage) {
    return SlotPlan::floor_bytes(map, Loader::Reader::slot_bytes(storage));
  }

  ~ExpertStore() {
    const std::lock_guard lock(mutex_);
    guesses_.clear();  // what is being read ends, and begins no other read
  }
  ExpertStore(const ExpertStore&) = delete;  // nor moves: reads under way know where it is

  /// @shape  experts[k], distinct -> Leases of size min(k, max_leases(layer)), same order
  /// @throws Error{io} from Leases::wait(): the failed expert is read again by the next that wants it
  /// @thread waits while others pin too many slots; calls are served in order, so that a large one is not overtaken
  ///         for ever
  /// @cost   hit: O(1) per expert. miss: a read per matrix (one for a fused gate and up), all submitted at once
  [[nodiscard]] Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts, Use use = Use::step) override {
    LAZYMOE_EXPECTS(map_.has_experts(layer));
    std::vector<detail::Claim> claims;
    claims.reserve(experts.size());
    std::vector<SlotIndex> slots;
    slots.reserve(experts.size());  // what may throw comes before the pins
    waiters_.collect();
    {
      std::unique_lock lock(mutex_);
      guesses_.pass(layer);
      detail::Turns& turns = turns_[plan_.class_of(layer)];
      const std::uint64_t turn = turns.take();
      waiters_.wait_released(lock, [&] {
        return turns.is(turn) &&
               resident_.claim(layer, experts.first(std::min(experts.size(), resident_.n_slots(layer))), use, claims);
      });
      if (turns.end()) waiters_.released();
      ledger_.requested(layer, claims, map_.layer(layer).bytes(),
                        [&](ExpertKey key) { return cache::pins(resident_.eviction_of(key), key); });
      for (const detail::Claim& claim : claims) slots.push_back(claim.slot);
      std::erase_if(claims, [](const detail::Claim& claim) { return claim.kind != detail::Claim::Kind::miss; });
      for (const detail::Claim& claim : claims) begin(claim, false);
    }
    Leases leases(*this, std::move(slots));
    load(claims, parallel::Priority::demand);
    return leases;
  }

  /// How many experts of a layer can be held at once.
  [[nodiscard]] std::size_t max_leases(LayerIndex layer) const {
    const std::lock_guard lock(mutex_);
    return resident_.n_slots(layer);
  }

  [[nodiscard]] bool resident(LayerIndex layer, ExpertIndex expert) const override {
    const std::lock_guard lock(mutex_);
    return resident_.resident(map_.space().key(layer, expert));
  }

  void on_route(const RouteEvent& event) override {
    if constexpr (!std::is_same_v<Prefetch, NoPrefetch>) guess([&] { guesses_.on_route(event); });
  }

  [[nodiscard]] Lookahead lookahead() const noexcept override {
    const std::lock_guard lock(mutex_);
    return guesses_.lookahead();
  }

  void expect(LayerIndex layer, std::span<const ExpertIndex> experts) noexcept override {
    guess([&] { guesses_.wish(layer, experts); });
  }

  /// Gives slots back to the system, evicting what is in them, until the budget is met; it stays lowered.
  ///
  /// @return bytes given back
  /// @throws Error{over_budget} when the budget is below one layer's chosen experts; nothing changes
  /// @thread waits while leases pin too many slots: not to be called by a thread that holds some
  Bytes shrink_to(ExpertBudget budget) {
    const SlotPlan smaller(map_, budget, loader_.slot_bytes());
    Bytes returned = 0;
    std::unique_lock lock(mutex_);
    for (std::size_t c = 0; c < plan_.classes().size(); ++c) {
      const std::size_t least = smaller.classes()[c].n_slots;
      waiters_.wait_released(lock, [&] {
        const std::size_t now = resident_.n_slots_of_class(c);
        if (now <= least) return true;
        const std::size_t retired = resident_.retire(c, now - least, [&](SlotIndex slot, const auto& evicted) {
          if (evicted) loader_.discard(*evicted);
          loader_.give_back(slot);
        });
        returned += retired * plan_.classes()[c].slot_bytes;
        return now - retired <= least;
      });
    }
    return returned;
  }

  /// Bytes of the slots that there are: those of the plan, less what shrink_to() gave back.
  [[nodiscard]] Bytes slot_bytes() const {
    const std::lock_guard lock(mutex_);
    const auto& classes = plan_.classes();
    Bytes total = 0;
    for (std::size_t c = 0; c < classes.size(); ++c) total += classes[c].slot_bytes * resident_.n_slots_of_class(c);
    return total;
  }

  [[nodiscard]] instrument::LayeredCounters counters() const {
    const std::lock_guard lock(mutex_);
    return ledger_.counters();
  }

  [[nodiscard]] const experts::ExpertMap& map() const noexcept { return map_; }
  [[nodiscard]] const SlotPlan& plan() const noexcept { return plan_; }

  /// True if no lease and no read holds a slot.
  [[nodiscard]] bool idle() {
    waiters_.collect();
    const std::lock_guard lock(mutex_);
    return resident_.idle();
  }

 private:
  using Loader = detail::SlotLoader<Storage, Representation>;

  /// @pre the lock is held
  void begin(const detail::Claim& claim, bool guessed) noexcept {
    contents_.begin(claim.slot, loader_.reads(claim.key), guessed);
    ledger_.begin(guessed);
  }

  /// A read is over.
  void arrive(SlotIndex slot, ExpertKey key, std::size_t i, const detail::PartView& part,
              std::exception_ptr failure) noexcept {
    const LayerIndex layer = map_.space().layer(key);
    const detail::ExpertReads reads = loader_.reads(key);
    std::vector<detail::Claim> guesses;
    {
      const std::lock_guard lock(mutex_);
      ledger_.read(layer, failure == nullptr ? reads[i].bytes : 0);
      const detail::Arrival arrival = contents_.arrive(slot, reads, i, part, std::move(failure));
      if (arrival == detail::Arrival::whole) {
        resident_.arrive(slot, !contents_.failed(slot));
        ledger_.end(layer, contents_.guessed(slot));
        guesses = claim_guesses();
        waiters_.released();
      }
      if (arrival != detail::Arrival::nothing) {  // waking for a gate alone helps nobody
        ledger_.arrive();
        waiters_.arrived();
      }
    }
    load(guesses, parallel::Priority::prefetch);
  }

  void load(std::span<const detail::Claim> claims, parallel::Priority priority) noexcept {
    for (const detail::Claim& claim : claims) loader_.load(claim, priority);
    if (!claims.empty()) waiters_.begun();
  }

  /// Has `wishing` wish, and begins to read what it wished for if nobody waits for the storage.
  template <class Wishing>
  void guess(Wishing&& wishing) noexcept {
    std::vector<detail::Claim> guesses;
    waiters_.collect();
    try {
      const std::lock_guard lock(mutex_);
      wishing();
      guesses = claim_guesses();
    } catch (const std::bad_alloc&) {}  // it was a hint
    load(guesses, parallel::Priority::prefetch);
  }

  /// @pre the lock is held
  [[nodiscard]] std::vector<detail::Claim> claim_guesses() noexcept {
    return guesses_.claim(resident_, ledger_, [&](const detail::Claim& claim) { begin(claim, true); });
  }

  [[nodiscard]] bool ready(SlotIndex slot, Extent extent) const override {
    const std::lock_guard lock(mutex_);
    return contents_.ready(slot, extent);
  }

  [[nodiscard]] ExpertView wait(SlotIndex slot, Extent extent) override {
    std::unique_lock lock(mutex_);
    wait_for(lock, slot, [&] { return contents_.ready(slot, extent); });
    return contents_.view(slot);
  }

  [[nodiscard]] std::uint64_t arrivals() override {
    waiters_.collect();
    const std::lock_guard lock(mutex_);
    return ledger_.arrivals();
  }

  void wait_arrival(std::uint64_t seen, SlotIndex slot) override {
    std::unique_lock lock(mutex_);
    wait_for(lock, slot, [&] { return ledger_.arrivals() > seen; });
  }

  /// @pre the lock is held
  template <class Until>
  void wait_for(std::unique_lock<std::mutex>& lock, SlotIndex slot, Until&& until) {
    if (until()) return;
    const instrument::Stopwatch watch;
    waiters_.wait_arrived(lock, until);
    ledger_.waited(map_.space().layer(resident_.key(slot)), watch.elapsed_ns());
  }

  void release(std::span<const SlotIndex> slots) noexcept override {
    const std::lock_guard lock(mutex_);
    for (const SlotIndex slot : slots) resident_.unpin(slot);
    waiters_.released();
  }

  experts::ExpertMap map_;
  SlotPlan plan_;
  mutable std::mutex mutex_;  ///< of all that follows but the loader
  detail::Waiters<Loader> waiters_;
  detail::ResidentSet<Eviction> resident_;
  detail::SlotContents contents_;
  std::vector<detail::Turns> turns_;  ///< by slot class
  detail::Ledger ledger_;
  detail::Guesses<Prefetch, Eviction> guesses_;
  Loader loader_;  // last: its threads end before what they use
};

/// A store for the experts of `file`, with the policies of `P`.
/// @throws Error{unsupported_model, bad_tensor, over_budget, io}
template <StorePolicies P = DefaultPolicies>
[[nodiscard]] ExpertStore<P> make_store(const gguf::File& file, const StoreOptions& options = {}) {
  return ExpertStore<P>(experts::ExpertMap(file), typename P::Storage(file.paths()), options);
}

}  // namespace lazymoe::store
