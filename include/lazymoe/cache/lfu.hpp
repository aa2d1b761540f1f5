#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "../core/types.hpp"
#include "detail/ranked_heap.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// Least frequently used, over the time since an expert came in: an eviction forgets its uses. Of equally frequent
/// residents the least recently used leaves.
///
/// @cost    on_*: O(log residents), no allocation after construction; victim: O(1) + pinned keys met
/// @memory  24 bytes per key of the key space
/// @source  "In-Cache-LFU" of Breslau et al., "Web caching and Zipf-like distributions", INFOCOM 1999
class Lfu {
 public:
  static constexpr std::string_view name = "lfu";

  explicit Lfu(KeySpace space) : heap_(space) {}

  void on_insert(ExpertKey key) noexcept {
    heap_.use(key);
    heap_.insert(key);
  }
  void on_hit(ExpertKey key) noexcept { heap_.use(key); }
  void on_erase(ExpertKey key) noexcept {
    heap_.erase(key);
    heap_.forget(key);
  }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) const {
    return heap_.find_lowest(evictable);
  }

 private:
  detail::RankedHeap heap_;
};
static_assert(EvictionPolicy<Lfu>);

}  // namespace lazymoe::cache
