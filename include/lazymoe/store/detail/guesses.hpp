#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "../../core/types.hpp"
#include "../../experts/expert_map.hpp"
#include "../prefetch.hpp"
#include "../source.hpp"
#include "claim_wishes.hpp"
#include "ledger.hpp"
#include "resident_set.hpp"
#include "wish_list.hpp"

namespace lazymoe::store::detail {

/// What a prefetch policy and the models wish for, as long as it is not there. Takes no locks: the store calls it under
/// its own.
template <PrefetchPolicy Prefetch, cache::EvictionPolicy Eviction>
class Guesses {
 public:
  /// @param most experts that may be read on a guess at once
  Guesses(const experts::ExpertMap& map, const ResidentSet<Eviction>& resident, Prefetch prefetch, std::size_t most)
      : map_(&map), resident_(&resident), prefetch_(std::move(prefetch)), wishes_(map.space()), most_(most) {}

  /// What the policy wants to be told; nothing as long as all experts are resident.
  [[nodiscard]] Lookahead lookahead() const noexcept {
    return resident_->complete() ? Lookahead{} : prefetch_.lookahead();
  }

  void on_route(const RouteEvent& event) {
    prefetch_.on_route(event, map_->space(),
                       [&](LayerIndex layer, std::span<const ExpertIndex> experts) { wish(layer, experts); });
  }

  void wish(LayerIndex layer, std::span<const ExpertIndex> experts) {
    if (layer >= map_->space().layers || !map_->has_experts(layer)) return;
    wishes_.set(layer, experts, [&](ExpertIndex e) { return !resident_->resident(map_->space().key(layer, e)); });
  }

  /// A layer is being run.
  void pass(LayerIndex layer) noexcept { wishes_.pass(layer); }

  void clear() noexcept { wishes_.clear(); }

  /// As claim_wishes().
  template <class Begin>
  [[nodiscard]] std::vector<Claim> claim(ResidentSet<Eviction>& resident, Ledger& ledger, Begin&& begin) noexcept {
    return claim_wishes(wishes_, resident, ledger, most_, begin);
  }

 private:
  const experts::ExpertMap* map_;
  const ResidentSet<Eviction>* resident_;
  Prefetch prefetch_;
  WishList wishes_;
  std::size_t most_;
};

}  // namespace lazymoe::store::detail
