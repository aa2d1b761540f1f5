#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "../core/types.hpp"
#include "detail/linked_order.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// Least recently used: the resident whose last use lies furthest back leaves.
///
/// @cost    on_*: O(1), no allocation after construction; victim: O(1) + pinned keys met
/// @memory  8 bytes per key of the key space
/// @source  Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems Journal 1970
class Lru {
 public:
  static constexpr std::string_view name = "lru";

  explicit Lru(KeySpace space) : order_(space) {}

  void on_insert(ExpertKey key) noexcept { order_.push_newest(key); }
  void on_hit(ExpertKey key) noexcept { order_.move_to_newest(key); }
  void on_erase(ExpertKey key) noexcept { order_.erase(key); }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) const {
    return order_.find_oldest(evictable);
  }

 private:
  detail::LinkedOrder order_;
};
static_assert(EvictionPolicy<Lru>);

}  // namespace lazymoe::cache
