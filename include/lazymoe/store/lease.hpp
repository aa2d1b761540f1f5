#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "view.hpp"

namespace lazymoe::store {

/// The place of one expert in its source.
enum class SlotIndex : std::uint32_t {};

/// How much of an expert must be there: gate and up are used first, so down may arrive while they are in use.
enum class Extent : std::uint8_t { gate_up, whole };

/// What a source must do for the leases it hands out.
class LeaseKeeper {
 public:
  /// True if wait() would not block.
  [[nodiscard]] virtual bool ready(SlotIndex slot, Extent extent) const = 0;
  /// Blocks until that much of the expert is there; what is not is left empty.
  /// @throws Error{io} if a read of it failed
  [[nodiscard]] virtual ExpertView wait(SlotIndex slot, Extent extent) = 0;
  /// How often something has become ready so far, of any expert.
  [[nodiscard]] virtual std::uint64_t arrivals() = 0;
  /// Blocks until arrivals() exceeds `seen`. Whose sake it is for is only counted.
  virtual void wait_arrival(std::uint64_t seen, SlotIndex slot) = 0;
  /// Ends one pin of each slot.
  virtual void release(std::span<const SlotIndex> slots) noexcept = 0;

 protected:
  ~LeaseKeeper() = default;
};

/// Pins on experts of one layer, in the order they were asked for. While a lease lives its expert stays where it
/// is; reads may still be under way, so each view is waited for.
///
/// @thread one thread at a time owns the leases, any may release them; the views may be read by many
class Leases {
 public:
  Leases() = default;
  Leases(LeaseKeeper& keeper, std::vector<SlotIndex> slots) : keeper_(&keeper), slots_(std::move(slots)) {}
  Leases(Leases&& other) noexcept : keeper_(other.keeper_), slots_(std::exchange(other.slots_, {})) {}
  /// Releases what was held so far.
  Leases& operator=(Leases&& other) noexcept {
    const Leases released(std::move(*this));
    keeper_ = other.keeper_;
    slots_ = std::exchange(other.slots_, {});
    return *this;
  }
  ~Leases() {
    if (!slots_.empty()) keeper_->release(slots_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

  /// True if wait(i, extent) would return at once.
  [[nodiscard]] bool ready(std::size_t i, Extent extent = Extent::whole) const {
    LAZYMOE_EXPECTS(i < size());
    return keeper_->ready(slots_[i], extent);
  }

  /// The expert that was asked for as the i-th; of Extent::gate_up, without its down matrix unless that is there.
  /// @throws Error{io} if its read failed; the other leases stay good
  [[nodiscard]] ExpertView wait(std::size_t i, Extent extent = Extent::whole) const {
    LAZYMOE_EXPECTS(i < size());
    return keeper_->wait(slots_[i], extent);
  }

  /// To wait for whichever comes first: look at arrivals(), then at what is ready, and if that is nothing new,
  /// wait_arrival(what arrivals() was).
  /// @pre size() > 0
  [[nodiscard]] std::uint64_t arrivals() const { return keeper_->arrivals(); }
  void wait_arrival(std::uint64_t seen) const { keeper_->wait_arrival(seen, slots_.front()); }

 private:
  LeaseKeeper* keeper_ = nullptr;
  std::vector<SlotIndex> slots_;
};

}  // namespace lazymoe::store
