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
      : experts_(std::move(experts)), most_(most), arrived_(experts_.size()), noise_(seed) {}

  store::Leases acquire(LayerIndex, std::span<const ExpertIndex> wanted) override {
    REQUIRE(wanted.size() <= most_);
    std::vector<store::SlotIndex> slots;
    for (const ExpertIndex e : wanted) {
      asked.push_back(e);
      slots.push_back(store::SlotIndex{e});
      arrived_[e] = noise_.bits() % 2 == 0;
    }
    pinned += slots.size();
    return {*this, std::move(slots)};
  }
  std::size_t max_leases(LayerIndex) const noexcept override { return most_; }
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
  bool ready(store::SlotIndex slot) const override { return arrived_[static_cast<std::size_t>(slot)]; }
  store::ExpertView wait(store::SlotIndex slot) override {
    const auto e = static_cast<std::size_t>(slot);
    if (broken == e) throw Error(Errc::io, "expert " + std::to_string(e) + " cannot be read");
    if (!arrived_[e]) {
      for (std::size_t other = 0; other < arrived_.size(); ++other) {
        if (other == e || noise_.bits() % 4 == 0) arrived_[other] = true;
      }
    }
    return experts_[e];
  }
  void release(std::span<const store::SlotIndex> slots) noexcept override { pinned -= slots.size(); }

  std::vector<store::ExpertView> experts_;
  std::size_t most_;
  std::vector<bool> arrived_;
  Noise noise_;
};

}  // namespace lazymoe::test
