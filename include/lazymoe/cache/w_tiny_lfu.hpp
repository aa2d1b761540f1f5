#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "../core/types.hpp"
#include "detail/aged_counters.hpp"
#include "detail/linked_order.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// An LRU window for newcomers before a segmented LRU. When the cache is full, the oldest of the window and the oldest
/// of the main part compare how often they were used, residents or not, and the less frequent leaves. A hit in the
/// probation segment leads to the protected one, whose overflow falls back.
///
/// @cost    on_*: O(1), and O(keys) once an ageing window; no allocation after construction; victim: O(1) + pinned
///          keys met
/// @memory  29 bytes per key of the key space
/// @source  Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", 2017, with exact counts
class WTinyLfu {
 public:
  static constexpr std::string_view name = "w-tinylfu";

  /// The paper's choice for all but recency-heavy traces.
  static constexpr unsigned default_window_percent = 1;

  explicit WTinyLfu(KeySpace space) : WTinyLfu(space, default_window_percent) {}

  /// @param window_percent of the residents that the window holds, though never less than one
  WTinyLfu(KeySpace space, unsigned window_percent)
      : window_(space),
        probation_(space),
        protected_(space),
        uses_(space),
        places_(space.size()),
        window_percent_(std::min(window_percent, 100U)) {}

  void on_insert(ExpertKey key) noexcept {
    uses_.use(key);
    put(key, Place::window);
  }

  void on_hit(ExpertKey key) noexcept {
    uses_.use(key);
    if (place(key) == Place::window) return window_.move_to_newest(key);
    move(key, Place::protect);
    const std::size_t main = probation_.size() + protected_.size();
    while (protected_.size() > main * protected_percent / 100) move(*protected_.oldest(), Place::probation);
  }

  void on_erase(ExpertKey key) noexcept { queue(place(key)).erase(key); }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) {
    const std::size_t residents = window_.size() + probation_.size() + protected_.size();
    const std::size_t window = std::max<std::size_t>(residents * window_percent_ / 100, 1);
    while (window_.size() > window) move(*window_.oldest(), Place::probation);

    auto old = probation_.find_oldest(evictable);
    if (!old) old = protected_.find_oldest(evictable);
    if (old && window_.size() < window) return old;
    const auto young = window_.find_oldest(evictable);
    if (!young || !old) return young ? young : old;
    if (uses_[*young] <= uses_[*old]) return young;
    move(*young, Place::probation);
    return old;
  }

 private:
  static constexpr std::size_t protected_percent = 80;  ///< of the main part, as in the paper

  enum class Place : std::uint8_t { window, probation, protect };

  [[nodiscard]] Place& place(ExpertKey key) noexcept { return places_[index(key)]; }

  [[nodiscard]] detail::LinkedOrder& queue(Place where) noexcept {
    return where == Place::window ? window_ : where == Place::probation ? probation_ : protected_;
  }

  void put(ExpertKey key, Place where) noexcept {
    queue(where).push_newest(key);
    place(key) = where;
  }

  void move(ExpertKey key, Place where) noexcept {
    queue(place(key)).erase(key);
    put(key, where);
  }

  detail::LinkedOrder window_;
  detail::LinkedOrder probation_;
  detail::LinkedOrder protected_;
  detail::AgedCounters uses_;
  std::vector<Place> places_;  ///< of residents, by key
  std::size_t window_percent_;
};
static_assert(EvictionPolicy<WTinyLfu>);

}  // namespace lazymoe::cache
