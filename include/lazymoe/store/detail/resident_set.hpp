#pragma once

#include <algorithm>
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

namespace lazymoe::store::detail {

enum class SlotState : std::uint8_t { free, loading, ready, failed };

/// What claim() did for one expert.
struct Claim {
  SlotIndex slot{};
  ExpertKey key{};
  enum class Kind : std::uint8_t { hit, joined, miss } kind = Kind::hit;
  std::optional<ExpertKey> evicted = {};
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
    }
  }

  [[nodiscard]] std::size_t n_slots(LayerIndex layer) const noexcept { return pools_[pool_of_layer_[layer]].n_slots; }
  [[nodiscard]] SlotState state(SlotIndex slot) const noexcept { return at(slot).state; }
  /// @pre the slot is not free
  [[nodiscard]] ExpertKey key(SlotIndex slot) const noexcept { return at(slot).key; }
  [[nodiscard]] bool resident(ExpertKey key) const noexcept { return slot_of_[index(key)] != none; }

  /// Pins all of `experts`, or none: false when too many slots are pinned by others. Residents are pinned before the
  /// first victim is chosen, so that no call evicts what it asks for. Also false when a victim must be chosen while a
  /// read outlives its leases: whether it is over already must not decide who leaves.
  /// @pre experts are distinct, and no more than n_slots(layer)
  [[nodiscard]] bool claim(LayerIndex layer, std::span<const ExpertIndex> experts, std::vector<Claim>& claims) {
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
      claim.kind = slots_[slot].state == SlotState::loading ? Claim::Kind::joined : Claim::Kind::hit;
      if (abandoned(slots_[slot])) --pool.n_abandoned;
      pin(pool, slots_[slot]);
      pool.eviction.on_hit(key);
    }
    for (Claim& claim : claims) {
      if (claim.kind == Claim::Kind::miss) settle(pool, claim);
    }
    return true;
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
    if (slot.state != SlotState::failed) return;
    slot.state = SlotState::free;
    pool.free.push_back(static_cast<std::uint32_t>(index));
  }

  /// True if nothing is pinned.
  [[nodiscard]] bool idle() const noexcept {
    return std::all_of(pools_.begin(), pools_.end(), [](const Pool& p) { return p.n_pinned == 0; });
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Slot {
    ExpertKey key{};
    std::uint32_t pins = 0;
    SlotState state = SlotState::free;
  };

  struct Pool {
    explicit Pool(Eviction policy) : eviction(std::move(policy)) {}
    Eviction eviction;
    std::vector<std::uint32_t> free;
    std::size_t n_slots = 0;
    std::size_t n_pinned = 0;
    std::size_t n_abandoned = 0;
  };

  [[nodiscard]] Slot& at(SlotIndex slot) noexcept { return slots_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] const Slot& at(SlotIndex slot) const noexcept { return slots_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] Pool& pool_of(ExpertKey key) noexcept { return pools_[pool_of_layer_[space_.layer(key)]]; }

  /// Whether the slot is pinned by its read alone.
  [[nodiscard]] static bool abandoned(const Slot& slot) noexcept {
    return slot.state == SlotState::loading && slot.pins == 1;
  }

  static void pin(Pool& pool, Slot& slot) noexcept {
    if (slot.pins++ == 0) ++pool.n_pinned;
  }

  void forget(ExpertKey key) noexcept {
    slot_of_[index(key)] = none;
    pool_of(key).eviction.on_erase(key);
  }

  /// Finds a slot for a missing expert: a free one, else a victim's.
  void settle(Pool& pool, Claim& claim) {
    LAZYMOE_EXPECTS(!resident(claim.key));  // experts are distinct
    if (pool.free.empty()) {
      const auto evictable = [&](ExpertKey key) { return slots_[slot_of_[index(key)]].pins == 0; };
      claim.evicted = pool.eviction.victim(evictable);
      LAZYMOE_ENSURES(claim.evicted.has_value());  // claim() counted
      pool.free.push_back(slot_of_[index(*claim.evicted)]);
      forget(*claim.evicted);
    }
    const std::uint32_t slot = pool.free.back();
    pool.free.pop_back();
    slots_[slot] = {.key = claim.key, .pins = 0, .state = SlotState::loading};
    pin(pool, slots_[slot]);  // for the lease
    pin(pool, slots_[slot]);  // for the read, which may outlive it
    slot_of_[index(claim.key)] = slot;
    pool.eviction.on_insert(claim.key);
    claim.slot = SlotIndex{slot};
  }

  KeySpace space_;
  std::vector<std::uint32_t> slot_of_;  // by key
  std::vector<Slot> slots_;
  std::vector<Pool> pools_;                  // by slot class
  std::vector<std::size_t> pool_of_layer_;
};

}  // namespace lazymoe::store::detail
