#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "../core/types.hpp"
#include "detail/ranked_heap.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// Least frequently used with a fading memory: every `window` uses, all counts are halved, so that what was
/// popular long ago yields to what is popular now. Of equals the least recently used leaves.
///
/// @cost    on_*: O(log residents), and O(keys) once a window; no allocation after construction;
///          victim: O(1) + pinned keys met
/// @memory  24 bytes per key of the key space
/// @source  the reset of Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", 2017
class LfuAged {
 public:
  static constexpr std::string_view name = "lfu-aged";

  /// Uses per key of the key space in the default window: few, as what a text asks for drifts. See docs/policies.md.
  static constexpr std::uint64_t default_uses_per_key = 2;

  explicit LfuAged(KeySpace space) : LfuAged(space, default_uses_per_key * space.size()) {}

  /// @unit `window` counts uses: inserts and hits
  LfuAged(KeySpace space, std::uint64_t window) : heap_(space), window_(std::max<std::uint64_t>(window, 1)) {}

  void on_insert(ExpertKey key) noexcept {
    count(key);
    heap_.insert(key);
  }
  void on_hit(ExpertKey key) noexcept { count(key); }
  void on_erase(ExpertKey key) noexcept { heap_.erase(key); }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) const {
    return heap_.find_lowest(evictable);
  }

 private:
  void count(ExpertKey key) noexcept {
    heap_.use(key);
    if (++uses_in_window_ < window_) return;
    uses_in_window_ = 0;
    heap_.halve();
  }

  detail::RankedHeap heap_;
  std::uint64_t window_;
  std::uint64_t uses_in_window_ = 0;
};
static_assert(EvictionPolicy<LfuAged>);

}  // namespace lazymoe::cache
