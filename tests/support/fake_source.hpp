#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lazymoe/core/error.hpp>
#include <lazymoe/store/source.hpp>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::test {

/// The experts of one layer in memory, which pretend to arrive from afar: some are there, each wait() brings a few
/// others along, and which is chance.
class FakeSource final : public store::ExpertSource, private store::LeaseKeeper {
 public:
  FakeSource(std::vector<store::ExpertView> experts, std::size_t most, std::uint64_t seed)
      : experts_(std::move(experts)), most_(most), arrived_(experts_.size()), half_arrived_(experts_.size()), noise_(seed) {}

  store::Leases acquire(LayerIndex, std::span<const ExpertIndex> wanted, store::Use) override {
    wanted = wanted.first(std::min(wanted.size(), most_));
    std::vector<store::SlotIndex> slots;
    for (const ExpertIndex e : wanted) {
      asked.push_back(e);
      slots.push_back(store::SlotIndex{e});
      arrived_[e] = noise_.bits() % 2 == 0;
      half_arrived_[e] = arrived_[e] || noise_.bits() % 2 == 0;
    }
    pinned += slots.size();
    return {*this, std::move(slots)};
  }
  bool resident(LayerIndex, ExpertIndex e) const override { return arrived_[e]; }
  void on_route(const store::RouteEvent& event) override {
    CHECK(pinned == 0);
    positions.push_back(event.position);
    routed.insert(routed.end(), event.experts.begin(), event.experts.end());
    weights.insert(weights.end(), event.weights.begin(), event.weights.end());
  }

  std::optional<ExpertIndex> broken;   ///< its read fails
  std::vector<ExpertIndex> asked;      ///< in order of acquire()
  std::vector<ExpertIndex> routed;     ///< as on_route() was told
  std::vector<float> weights;          ///< likewise
  std::vector<std::size_t> positions;  ///< likewise
  std::size_t pinned = 0;

 private:
  bool ready(store::SlotIndex slot, store::Extent extent) const override {
    const auto e = static_cast<std::size_t>(slot);
    return extent == store::Extent::whole ? arrived_[e] : half_arrived_[e];
  }
  store::ExpertView wait(store::SlotIndex slot, store::Extent extent) override {
    const auto e = static_cast<std::size_t>(slot);
    if (broken == e) throw Error(Errc::io, "expert " + std::to_string(e) + " cannot be read");
    REQUIRE(ready(slot, extent));
    store::ExpertView view = experts_[e];
    if (!arrived_[e]) view.down = {};
    return view;
  }
  std::uint64_t arrivals() override { return n_arrivals_; }
  /// Brings halves of experts, and a few others along.
  void wait_arrival(std::uint64_t seen, store::SlotIndex) override {
    REQUIRE(seen == n_arrivals_);
    ++n_arrivals_;
    for (std::size_t e = 0; e < arrived_.size(); ++e) {
      if (noise_.bits() % 4 != 0) continue;
      arrived_[e] = half_arrived_[e];
      half_arrived_[e] = true;
    }
  }
  void release(std::span<const store::SlotIndex> slots) noexcept override { pinned -= slots.size(); }

  std::vector<store::ExpertView> experts_;
  std::size_t most_;
  std::vector<bool> arrived_;
  std::vector<bool> half_arrived_;  ///< gate and up
  std::uint64_t n_arrivals_ = 0;
  Noise noise_;
};

}  // namespace lazymoe::test
