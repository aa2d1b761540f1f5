#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
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

#include "../core/buffer.hpp"
#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../experts/expert_map.hpp"
#include "../gguf/file.hpp"
#include "../instrument/counters.hpp"
#include "../instrument/stopwatch.hpp"
#include "../io/huge_pages.hpp"
#include "../parallel/io_queue.hpp"
#include "checksums.hpp"
#include "detail/expert_reader.hpp"
#include "detail/resident_set.hpp"
#include "detail/wish_list.hpp"
#include "policies.hpp"
#include "slot_plan.hpp"
#include "source.hpp"

namespace lazymoe::store {

struct StoreOptions {
  ExpertBudget budget = {};         ///< what may be resident; everything by default
  unsigned io_threads = 4;          ///< reads under way at once, where the storage has no queue of its own
  std::size_t prefetches = 1;       ///< experts that may be read on a guess at once
  Checksums* checksums = nullptr;   ///< what reads are compared with, or null: with nothing. Outlives the store
};

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
        options_(options),
        plan_(map_, options.budget, Reader::slot_bytes(storage)),
        reader_memory_(Reader::in_place(storage, map_) ? 0 : static_cast<std::size_t>(plan_.total_bytes()),
                       AlignedBuffer::page),
        reader_(map_, std::move(storage), options.checksums),
        resident_(map_, plan_, make_eviction),
        contents_(plan_.n_slots()),
        lines_(plan_.classes().size()),
        counters_(map_.space().layers),
        prefetch_(std::move(prefetch)),
        wishes_(map_.space()),
        queue_(options.io_threads) {
    io::prefer_huge_pages(reader_memory_.bytes());
    std::span<std::byte> free = reader_memory_.bytes();
    std::size_t slot = 0;
    for (const SlotClass& c : plan_.classes()) {
      for (std::size_t i = 0; i < c.n_slots && !free.empty(); ++i) {
        contents_[slot++].memory = free.first(static_cast<std::size_t>(c.slot_bytes));
        free = free.subspan(static_cast<std::size_t>(c.slot_bytes));
      }
    }
  }

  /// The smallest budget that the constructor accepts.
  [[nodiscard]] static Bytes floor_bytes(const experts::ExpertMap& map, Storage& storage) {
    return SlotPlan::floor_bytes(map, Reader::slot_bytes(storage));
  }

  ExpertStore(const ExpertStore&) = delete;
  ExpertStore& operator=(const ExpertStore&) = delete;

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
    {
      std::unique_lock lock(mutex_);
      wishes_.pass(layer);
      Line& line = lines_[plan_.class_of(layer)];
      const std::uint64_t turn = line.next++;
      released_.wait(lock, [&] {
        return line.served == turn &&
               resident_.claim(layer, experts.first(std::min(experts.size(), resident_.n_slots(layer))), use, claims);
      });
      ++line.served;
      if (line.served != line.next) released_.notify_all();
      for (const detail::Claim& claim : claims) begin(claim);
      count(layer, claims);
    }
    for (const detail::Claim& claim : claims) slots.push_back(claim.slot);
    Leases leases(*this, std::move(slots));
    for (const detail::Claim& claim : claims) {
      if (claim.kind == detail::Claim::Kind::miss) submit(claim, parallel::Priority::demand);
    }
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
    if constexpr (!std::is_same_v<Prefetch, NoPrefetch>) {
      std::vector<detail::Claim> claims;
      {
        const std::lock_guard lock(mutex_);
        prefetch_.on_route(event, map_.space(), [&](LayerIndex layer, std::span<const ExpertIndex> experts) {
          wish(layer, experts);
        });
        claims = claim_prefetches();
      }
      for (const detail::Claim& claim : claims) submit(claim, parallel::Priority::prefetch);
    }
  }

  [[nodiscard]] Lookahead lookahead() const noexcept override { return prefetch_.lookahead(); }

  void expect(LayerIndex layer, std::span<const ExpertIndex> experts) noexcept override {
    try {
      std::vector<detail::Claim> claims;
      {
        const std::lock_guard lock(mutex_);
        wish(layer, experts);
        claims = claim_prefetches();
      }
      for (const detail::Claim& claim : claims) submit(claim, parallel::Priority::prefetch);
    } catch (const std::bad_alloc&) {  // it was a hint
    }
  }

  /// Gives slots back to the system, evicting what is in them, until the budget is met; it stays lowered.
  ///
  /// @return bytes given back
  /// @throws Error{over_budget} when the budget is below one layer's chosen experts; nothing changes
  /// @thread waits while leases pin too many slots: not to be called by a thread that holds some
  Bytes shrink_to(ExpertBudget budget) {
    const SlotPlan smaller(map_, budget, reader_.slot_bytes());
    Bytes returned = 0;
    std::unique_lock lock(mutex_);
    for (std::size_t c = 0; c < plan_.classes().size(); ++c) {
      const std::size_t least = smaller.classes()[c].n_slots;
      released_.wait(lock, [&] {
        const std::size_t now = resident_.n_slots_of_class(c);
        if (now <= least) return true;
        const std::size_t retired = resident_.retire(c, now - least, [&](SlotIndex slot, const auto& evicted) {
          if (evicted) reader_.discard(*evicted);
          io::give_back(contents_[static_cast<std::size_t>(slot)].memory);
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
    Bytes total = 0;
    for (std::size_t c = 0; c < plan_.classes().size(); ++c) {
      total += plan_.classes()[c].slot_bytes * resident_.n_slots_of_class(c);
    }
    return total;
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
  using Reader = detail::ExpertReader<Storage, Representation>;

  struct Content {
    std::span<std::byte> memory;
    ExpertKey key{};                  // of the reads under way; written before they are submitted
    typename Reader::Tickets tickets; // by read; written before its job is
    // Guarded by mutex_:
    ExpertView view;
    std::exception_ptr failure;
    std::uint32_t n_left = 0;        // reads under way
    std::uint32_t n_inner_left = 0;  // of them, those of gate and up
    bool guessed = false;            // whether the reads are a prefetch's
  };

  /// Those who wait for slots of one class, first come, first served.
  struct Line {
    std::uint64_t next = 0;
    std::uint64_t served = 0;
  };

  /// Notes that the reads of a missing expert are to come. @pre the lock is held
  void begin(const detail::Claim& claim, bool guessed = false) noexcept {
    if (claim.kind != detail::Claim::Kind::miss) return;
    Content& content = contents_[static_cast<std::size_t>(claim.slot)];
    const auto n = static_cast<std::uint32_t>(reader_.reads(claim.key).size());
    content.key = claim.key;
    content.view = {};
    content.failure = nullptr;
    content.n_left = n;
    content.n_inner_left = n - 1;
    content.guessed = guessed;
    if (n_reading_++ == 0) reading_since_ = {};
    ++(guessed ? n_guessed_reading_ : n_asked_reading_);
  }

  void count(LayerIndex layer, std::span<const detail::Claim> claims) noexcept {
    using Kind = detail::Claim::Kind;
    instrument::StoreCounters counted;
    for (const detail::Claim& claim : claims) {
      switch (claim.kind) {
        case Kind::hit: ++(is_pinned(claim.key) ? counted.pinned_hits : counted.hits); break;
        case Kind::prefetched: ++counted.prefetched; break;
        case Kind::prefetched_late: ++counted.prefetched_late; break;
        case Kind::joined: ++counted.joined; break;
        case Kind::miss: ++counted.misses; break;
      }
      if (claim.evicted) ++counted.evictions;
      if (claim.evicted_unused) ++counted.prefetched_unused;
    }
    counted.bytes_wanted = claims.size() * map_.layer(layer).bytes();
    counters_.add(layer, counted);
  }

  [[nodiscard]] bool is_pinned(ExpertKey key) const noexcept {
    if constexpr (cache::PinningPolicy<Eviction>) {
      return resident_.eviction_of(key).pins(key);
    } else {
      return (void)key, false;
    }
  }

  // Prefetch. @pre of all: the lock is held

  void wish(LayerIndex layer, std::span<const ExpertIndex> experts) {
    if (layer >= map_.space().layers || !map_.has_experts(layer)) return;
    wishes_.set(layer, experts, [&](ExpertIndex e) { return !resident_.resident(map_.space().key(layer, e)); });
  }

  /// Takes slots for wishes, as long as nobody waits for the storage and few guesses are being read.
  [[nodiscard]] std::vector<detail::Claim> claim_prefetches() {
    std::vector<detail::Claim> claims;
    while (n_asked_reading_ == 0 && n_guessed_reading_ < options_.prefetches) {
      const auto wish = wishes_.next();
      if (!wish) break;
      claims.reserve(claims.size() + 1);  // what may throw comes before the pin
      const auto claim = resident_.claim_prefetch(wish->layer, wish->expert, wish->layers_ahead);
      if (!claim) continue;
      claims.push_back(*claim);
      begin(*claim, true);
      counters_.add(wish->layer, {.prefetched_unused = claim->evicted_unused ? 1U : 0U,
                                  .evictions = claim->evicted ? 1U : 0U});
    }
    return claims;
  }

  // Reads. They run without the lock: the slot is theirs alone until they arrive.

  void submit(const detail::Claim& claim, parallel::Priority priority) noexcept {
    if (claim.evicted) reader_.discard(*claim.evicted);
    const auto slot = static_cast<std::uint32_t>(claim.slot);
    Content& content = contents_[slot];
    const auto reads = reader_.reads(claim.key);
    for (std::uint32_t i = 0; i < reads.size(); ++i) {
      std::exception_ptr failure;
      try {
        reader_.start(reads, i, content.memory, content.tickets);
        if (!reader_.in_place()) {
          queue_.submit(priority, [this, slot, i] { finish(slot, i); });
          continue;
        }
      } catch (const std::bad_alloc&) {  // no memory to ask another thread: this one reads
      } catch (...) {
        failure = std::current_exception();
      }
      failure ? arrive(slot, i, {}, failure) : finish(slot, i);
    }
  }

  void finish(std::uint32_t slot, std::uint32_t i) noexcept {
    Content& content = contents_[slot];
    detail::PartView part;
    std::exception_ptr failure;
    try {
      part = reader_.finish(reader_.reads(content.key), content.key, i, content.memory, content.tickets);
    } catch (...) {
      failure = std::current_exception();
    }
    arrive(slot, i, part, failure);
  }

  void arrive(std::uint32_t slot, std::uint32_t i, const detail::PartView& part, std::exception_ptr failure) noexcept {
    Content& content = contents_[slot];
    const LayerIndex layer = map_.space().layer(content.key);
    const auto reads = reader_.reads(content.key);
    std::vector<detail::Claim> claims;
    {
      // Notified under the lock: a waiter may destroy the store as soon as it is let go.
      const std::lock_guard lock(mutex_);
      if (failure == nullptr) {
        part.put_into(content.view);
        counters_.add(layer, {.reads = 1, .bytes_read = reads[i].bytes});
      } else if (content.failure == nullptr) {
        content.failure = std::move(failure);
      }
      if (!reads.is_down(i)) --content.n_inner_left;
      ++arrivals_;
      if (--content.n_left == 0) {
        resident_.arrive(SlotIndex{slot}, content.failure == nullptr);
        --(content.guessed ? n_guessed_reading_ : n_asked_reading_);
        if (--n_reading_ == 0) counters_.add(layer, {.busy_ns = reading_since_.elapsed_ns()});
        released_.notify_all();
        try {
          claims = claim_prefetches();
        } catch (const std::bad_alloc&) {  // nothing is guessed
        }
      }
      arrived_.notify_all();
    }
    for (const detail::Claim& claim : claims) submit(claim, parallel::Priority::prefetch);
  }

  // What leases ask for.

  [[nodiscard]] bool is_ready(const Content& content, Extent extent) const noexcept {
    // A failure is told when nothing is written into the slot any more.
    return content.n_left == 0 ||
           (extent == Extent::gate_up && content.n_inner_left == 0 && content.failure == nullptr);
  }

  [[nodiscard]] bool ready(SlotIndex slot, Extent extent) const override {
    const std::lock_guard lock(mutex_);
    return is_ready(contents_[static_cast<std::size_t>(slot)], extent);
  }

  [[nodiscard]] ExpertView wait(SlotIndex slot, Extent extent) override {
    std::unique_lock lock(mutex_);
    const Content& content = contents_[static_cast<std::size_t>(slot)];
    wait_for(lock, slot, [&] { return is_ready(content, extent); });
    if (content.failure) std::rethrow_exception(content.failure);
    return content.view;
  }

  [[nodiscard]] std::uint64_t arrivals() const override {
    const std::lock_guard lock(mutex_);
    return arrivals_;
  }

  void wait_arrival(std::uint64_t seen, SlotIndex slot) override {
    std::unique_lock lock(mutex_);
    wait_for(lock, slot, [&] { return arrivals_ > seen; });
  }

  template <class Until>
  void wait_for(std::unique_lock<std::mutex>& lock, SlotIndex slot, Until&& until) {
    if (until()) return;
    const instrument::Stopwatch watch;
    arrived_.wait(lock, until);
    counters_.add(map_.space().layer(resident_.key(slot)), {.wait_ns = watch.elapsed_ns()});
  }

  void release(std::span<const SlotIndex> slots) noexcept override {
    const std::lock_guard lock(mutex_);
    for (const SlotIndex slot : slots) resident_.unpin(slot);
    released_.notify_all();
  }

  experts::ExpertMap map_;
  StoreOptions options_;
  SlotPlan plan_;
  AlignedBuffer reader_memory_;  // before what may still write into it
  Reader reader_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable released_;
  detail::ResidentSet<Eviction> resident_;  // guarded by mutex_, as all until queue_ but what Content says
  std::vector<Content> contents_;           // by slot
  std::vector<Line> lines_;                 // by slot class
  instrument::LayeredCounters counters_;
  Prefetch prefetch_;
  detail::WishList wishes_;
  std::uint64_t arrivals_ = 0;
  std::size_t n_reading_ = 0;  ///< experts
  std::size_t n_asked_reading_ = 0;
  std::size_t n_guessed_reading_ = 0;
  instrument::Stopwatch reading_since_;
  parallel::IoQueue queue_;  // last: its threads end before what they use
};

/// A store for the experts of `file`, with the policies of `P`.
/// @throws Error{unsupported_model, bad_tensor, over_budget, io}
template <StorePolicies P = DefaultPolicies>
[[nodiscard]] ExpertStore<P> make_store(const gguf::File& file, const StoreOptions& options = {}) {
  return ExpertStore<P>(experts::ExpertMap(file), typename P::Storage(file.paths()), options);
}

}  // namespace lazymoe::store
