#pragma once

#include <span>

#include "../core/types.hpp"
#include "lease.hpp"
#include "source.hpp"

namespace lazymoe::store {

/// Passes everything on to another source: a base for those that watch it, or change one thing about it.
class ForwardingSource : public ExpertSource {
 public:
  /// @param inner outlives this
  explicit ForwardingSource(ExpertSource& inner) : inner_(&inner) {}

  [[nodiscard]] Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts, Use use) override {
    return inner_->acquire(layer, experts, use);
  }
  [[nodiscard]] bool resident(LayerIndex layer, ExpertIndex expert) const override {
    return inner_->resident(layer, expert);
  }
  void on_route(const RouteEvent& event) override { inner_->on_route(event); }
  [[nodiscard]] Lookahead lookahead() const noexcept override { return inner_->lookahead(); }
  void expect(LayerIndex layer, std::span<const ExpertIndex> experts) noexcept override {
    inner_->expect(layer, experts);
  }

 private:
  ExpertSource* inner_;
};

}  // namespace lazymoe::store
