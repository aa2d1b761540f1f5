#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "../../cache/eviction.hpp"
#include "../../core/contract.hpp"
#include "../../core/types.hpp"
#include "../../experts/expert_map.hpp"
#include "../lease.hpp"
#include "../slot_plan.hpp"
#include "../source.hpp"

namespace lazymoe::store::detail {

enum class SlotState : std::uint8_t { free, loading, ready, failed };

/// What was done for one expert that was asked for.
struct Claim {
  SlotIndex slot{};
  ExpertKey key{};
  /// By where the expert was, as StoreCounters tells them apart.
  enum class Kind : std::uint8_t { hit, prefetched, prefetched_late, joined, miss } kind = Kind::hit;
  std::optional<ExpertKey> evicted = {};
  bool evicted_unused = false;  ///< a prefetch had brought it, and nobody had asked for it
};

/// Who is in which slot, how often pinned, and whether its read has arrived. One eviction policy ranks each class of
/// slots. Knows no bytes and takes no locks: the store calls it under its own.
template <cache::EvictionPolicy Eviction>
class ResidentSet {
 public:
  ResidentSet(
      const experts::ExpertMap& map, const SlotPlan& plan,
      const std::function<Eviction(KeySpace)>& make_eviction = [](KeySpace space) { return Eviction(space); })
      : space_(map.space()), slot_of_(space_.size(), none) {
    for (const SlotClass& c : plan.classes()) {
      Pool& pool = pools_.emplace_back(make_eviction(space_));
      for (std::size_t i = 0; i < c.n_slots; ++i) pool.free.push_back(static_cast<std::uint32_t>(slots_.size() + i));
      std::reverse(pool.free.begin(), pool.free.end());  // taken from the back: lowest first
      slots_.resize(slots_.size() + c.n_slots);
      pool.n_slots = c.n_slots;
    }
    for (LayerIndex layer = 0; layer < space_.layers; ++layer) {
      pool_of_layer_.push_back(map.has_experts(layer) ? plan.class_of(layer) : 0);
      n_experts_ += map.has_experts(layer) ? space_.experts : 0;
    }
  }

  [[nodiscard]] std::size_t n_slots(LayerIndex layer) const noexcept { return pools_[pool_of_layer_[layer]].n_slots; }
  [[nodiscard]] std::size_t n_slots_of_class(std::size_t slot_class) const noexcept { return pools_[slot_class].n_slots; }
  /// The policy that ranks the class of slots of a key.
  [[nodiscard]] const Eviction& eviction_of(ExpertKey key) const noexcept {
    return pools_[pool_of_layer_[space_.layer(key)]].eviction;
  }
  [[nodiscard]] SlotState state(SlotIndex slot) const noexcept { return at(slot).state; }
  /// @pre the slot is not free
  [[nodiscard]] ExpertKey key(SlotIndex slot) const noexcept { return at(slot).key; }
  [[nodiscard]] bool resident(ExpertKey key) const noexcept { return slot_of_[index(key)] != none; }

  /// Whether all experts of the model have a slot.
  [[nodiscard]] bool complete() const noexcept { return n_resident_ == n_experts_; }

  /// Pins all of `experts`, or none: false when too many slots are pinned by others. Residents are pinned before the
  /// first victim is chosen, so that no call evicts what it asks for. Also false when a victim must be chosen while a
  /// read outlives its leases: whether it is over already must not decide who leaves.
  ///
  /// What a prompt brings gives way to the rest of the prompt first, until a step asks for it: a prompt passes over
  /// nearly all experts, and would otherwise push out those that steps come back to.
  /// @pre experts are distinct, and no more than n_slots(layer)
  [[nodiscard]] bool claim(LayerIndex layer, std::span<const ExpertIndex> experts, Use use, std::vector<Claim>& claims) {
    Pool& pool = pools_[pool_of_layer_[layer]];
    LAZYMOE_EXPECTS(experts.size() <= pool.n_slots);
    claims.clear();
    std::size_t misses = 0;
    std::size_t newly_pinned = 0;
    for (const ExpertIndex expert : experts) {
      const std::uint32_t slot = slot_of_[index(space_.key(layer, expert))];
      if (slot == none) ++misses;
      if (slot != none && slots_[slot].pins == 0) ++newly_pinned;
    }
    if (pool.n_pinned + newly_pinned + misses > pool.n_slots) return false;
    if (misses > pool.free.size() && pool.n_abandoned > 0) return false;

    for (const ExpertIndex expert : experts) {
      const ExpertKey key = space_.key(layer, expert);
      const std::uint32_t slot = slot_of_[index(key)];
      Claim& claim = claims.emplace_back(Claim{.slot = SlotIndex{slot}, .key = key});
      if (slot == none) {
        claim.kind = Claim::Kind::miss;
        continue;
      }
      claim.kind = use_resident(pool, slots_[slot], use);
      pool.eviction.on_hit(key);
    }
    for (Claim& claim : claims) {
      if (claim.kind == Claim::Kind::miss) settle(pool, claim, use);
    }
    return true;
  }

  /// Takes a slot for an expert that was only guessed, if there is one that no request will miss: at most half of the
  /// class may be pinned, and no expert of layers [layer - ahead, layer] leaves for it. When half of the class has guesses
  /// that nobody asked for so far, one of these leaves.
  /// @return the claim of a miss whose slot is pinned by its read alone, or nothing
  [[nodiscard]] std::optional<Claim> claim_prefetch(LayerIndex layer, ExpertIndex expert, std::uint32_t ahead) {
    Pool& pool = pools_[pool_of_layer_[layer]];
    Claim claim{.key = space_.key(layer, expert), .kind = Claim::Kind::miss};
    if (resident(claim.key) || 2 * (pool.n_pinned + 1) > pool.n_slots) return std::nullopt;
    const bool enough_guesses = 2 * (pool.n_of(Origin::prefetch) + 1) > pool.n_slots;
    if (pool.free.empty() || enough_guesses) {
      const auto victim = pool.eviction.victim([&](ExpertKey key) {
        const std::uint32_t layers_ago = (layer + space_.layers - space_.layer(key)) % space_.layers;
        const bool is_guess = slots_[slot_of_[index(key)]].origin == Origin::prefetch;
        return layers_ago > ahead && evictable(key) && (is_guess || !enough_guesses);
      });
      if (!victim) return std::nullopt;
      if constexpr (cache::AdmittingPolicy<Eviction>) {
        if (!pool.eviction.admit(claim.key, *victim)) return std::nullopt;
      }
      evict(pool, claim, *victim);
    }
    occupy(pool, claim);
    set_origin(pool, at(claim.slot), Origin::prefetch);
    return claim;
  }

  /// The read of a missing expert is over; it ends the pin that the read itself had.
  void arrive(SlotIndex index, bool success) noexcept {
    Slot& slot = at(index);
    LAZYMOE_EXPECTS(slot.state == SlotState::loading);
    if (abandoned(slot)) --pool_of(slot.key).n_abandoned;
    slot.state = success ? SlotState::ready : SlotState::failed;
    if (!success) forget(slot.key);  // the next that wants the expert tries again, in another slot
    unpin(index);
  }

  void unpin(SlotIndex index) noexcept {
    Slot& slot = at(index);
    LAZYMOE_EXPECTS(slot.pins > 0);
    Pool& pool = pool_of(slot.key);
    --slot.pins;
    if (abandoned(slot)) ++pool.n_abandoned;
    if (slot.pins > 0) return;
    --pool.n_pinned;
    if (slot.state == SlotState::failed) {
      slot.state = SlotState::free;
      pool.free.push_back(static_cast<std::uint32_t>(index));
    }
  }

  /// Lowers the number of slots of a class for good, by `n` that are neither pinned nor to be pinned; calls
  /// fn(slot, evicted) for each, where a slot that was free has no evicted expert. Fewer if fewer are unpinned.
  template <class Fn>
  std::size_t retire(std::size_t slot_class, std::size_t n, Fn&& fn) {
    Pool& pool = pools_[slot_class];
    std::size_t retired = 0;
    for (; retired < n && pool.n_pinned < pool.n_slots; ++retired, --pool.n_slots) {
      Claim claim;
      if (pool.free.empty()) {
        const auto victim = pool.eviction.victim([this](ExpertKey key) { return evictable(key); });
        if (!victim) break;
        evict(pool, claim, *victim);
      }
      fn(SlotIndex{pool.free.back()}, claim.evicted);
      pool.free.pop_back();
    }
    return retired;
  }

  /// True if nothing is pinned.
  [[nodiscard]] bool idle() const noexcept {
    return std::all_of(pools_.begin(), pools_.end(), [](const Pool& p) { return p.n_pinned == 0; });
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Whom the expert of a slot was brought for, until a step asks for it.
  enum class Origin : std::uint8_t { step, prompt, prefetch };

  struct Slot {
    ExpertKey key{};
    std::uint32_t pins = 0;
    SlotState state = SlotState::free;
    Origin origin = Origin::step;
  };

  struct Pool {
    explicit Pool(Eviction policy) : eviction(std::move(policy)) {}
    Eviction eviction;
    std::vector<std::uint32_t> free;
    std::size_t n_slots = 0;
    std::size_t n_pinned = 0;
    std::size_t n_abandoned = 0;
    std::array<std::size_t, 3> n_by_origin{};  ///< slots that are not of steps

    [[nodiscard]] std::size_t& n_of(Origin origin) noexcept { return n_by_origin[static_cast<std::size_t>(origin)]; }
  };

  [[nodiscard]] Slot& at(SlotIndex slot) noexcept { return slots_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] const Slot& at(SlotIndex slot) const noexcept { return slots_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] Pool& pool_of(ExpertKey key) noexcept { return pools_[pool_of_layer_[space_.layer(key)]]; }

  /// Whether a request's slot is pinned by its read alone.
  [[nodiscard]] static bool abandoned(const Slot& slot) noexcept {
    return slot.state == SlotState::loading && slot.pins == 1 && slot.origin != Origin::prefetch;
  }

  [[nodiscard]] bool evictable(ExpertKey key) const noexcept { return slots_[slot_of_[index(key)]].pins == 0; }

  static void pin(Pool& pool, Slot& slot) noexcept {
    if (slot.pins++ == 0) ++pool.n_pinned;
  }

  static void set_origin(Pool& pool, Slot& slot, Origin origin) noexcept {
    if (slot.origin != Origin::step) --pool.n_of(slot.origin);
    if (origin != Origin::step) ++pool.n_of(origin);
    slot.origin = origin;
  }

  [[nodiscard]] static Claim::Kind use_resident(Pool& pool, Slot& slot, Use use) noexcept {
    const bool loading = slot.state == SlotState::loading;
    const bool guessed = slot.origin == Origin::prefetch;
    if (abandoned(slot)) --pool.n_abandoned;
    if (guessed || use == Use::step) set_origin(pool, slot, use == Use::step ? Origin::step : Origin::prompt);
    pin(pool, slot);
    if (loading) return guessed ? Claim::Kind::prefetched_late : Claim::Kind::joined;
    return guessed ? Claim::Kind::prefetched : Claim::Kind::hit;
  }

  void forget(ExpertKey key) noexcept {
    Pool& pool = pool_of(key);
    set_origin(pool, slots_[slot_of_[index(key)]], Origin::step);
    slot_of_[index(key)] = none;
    --n_resident_;
    pool.eviction.on_erase(key);
  }

  void evict(Pool& pool, Claim& claim, ExpertKey victim) {
    const std::uint32_t slot = slot_of_[index(victim)];
    claim.evicted = victim;
    claim.evicted_unused = slots_[slot].origin == Origin::prefetch;
    pool.free.push_back(slot);
    forget(victim);
  }

  /// Moves a missing expert into a free slot, pinned for its read, which may outlive a lease.
  /// @pre a slot is free
  void occupy(Pool& pool, Claim& claim) {
    const std::uint32_t slot = pool.free.back();
    pool.free.pop_back();
    slots_[slot] = {.key = claim.key, .state = SlotState::loading};
    pin(pool, slots_[slot]);
    slot_of_[index(claim.key)] = slot;
    ++n_resident_;
    pool.eviction.on_insert(claim.key);
    claim.slot = SlotIndex{slot};
  }

  /// Finds a slot for a missing expert: a free one, else a victim's.
  void settle(Pool& pool, Claim& claim, Use use) {
    LAZYMOE_EXPECTS(!resident(claim.key));  // experts are distinct
    if (pool.free.empty()) {
      std::optional<ExpertKey> victim;
      if (use == Use::prompt && pool.n_of(Origin::prompt) > 0) {
        victim = pool.eviction.victim([this](ExpertKey key) {
          return evictable(key) && slots_[slot_of_[index(key)]].origin == Origin::prompt;
        });
      }
      if (!victim) victim = pool.eviction.victim([this](ExpertKey key) { return evictable(key); });
      LAZYMOE_ENSURES(victim.has_value());  // claim() counted
      evict(pool, claim, *victim);
    }
    occupy(pool, claim);
    Slot& slot = at(claim.slot);
    pin(pool, slot);  // for the lease
    if (use == Use::prompt) set_origin(pool, slot, Origin::prompt);
  }

  KeySpace space_;
  std::vector<std::uint32_t> slot_of_;  // by key
  std::size_t n_experts_ = 0;
  std::size_t n_resident_ = 0;  // of them
  std::vector<Slot> slots_;
  std::vector<Pool> pools_;                  // by slot class
  std::vector<std::size_t> pool_of_layer_;
};

}  // namespace lazymoe::store::detail
