#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "../core/joined_name.hpp"
#include "../core/types.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// Has another policy choose among the layers that will be needed latest: layers come in turn, so those are the ones
/// just passed. Only when none of them has an evictable expert may any other leave.
///
/// @cost    as Eviction, where the keys of other layers count as pinned
/// @source  the cyclic order of layers that Hoang et al. exploit in "SpecMD: a comprehensive study on speculative
///          expert prefetching", 2026
template <EvictionPolicy Eviction>
class LayerAware {
  static constexpr std::string_view prefix = "layer-";

 public:
  static constexpr std::string_view name = JoinedName<prefix, Eviction::name>::value;

  /// Half of the layers are considered at first.
  explicit LayerAware(KeySpace space) : LayerAware(space, Eviction(space), (space.layers + 1) / 2) {}

  /// @param n_layers how many of the layers passed last are considered at first
  LayerAware(KeySpace space, Eviction eviction, std::uint32_t n_layers)
      : space_(space), eviction_(std::move(eviction)), n_layers_(std::min(n_layers, space.layers)) {}

  void on_insert(ExpertKey key) noexcept {
    layer_ = space_.layer(key);
    eviction_.on_insert(key);
  }
  void on_hit(ExpertKey key) noexcept {
    layer_ = space_.layer(key);
    eviction_.on_hit(key);
  }
  void on_erase(ExpertKey key) noexcept { eviction_.on_erase(key); }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) {
    const auto passed = [&](ExpertKey key) {
      const std::uint32_t layers_ago = (layer_ + space_.layers - space_.layer(key)) % space_.layers;
      return layers_ago < n_layers_ && evictable(key);
    };
    if (const auto found = eviction_.victim(passed)) return found;
    return eviction_.victim(evictable);
  }

 private:
  KeySpace space_;
  Eviction eviction_;
  std::uint32_t n_layers_;
  LayerIndex layer_ = 0;  ///< of the last use
};

}  // namespace lazymoe::cache
