#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "../core/types.hpp"
#include "detail/linked_order.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// First in, first out: the oldest resident leaves, used or not.
///
/// @cost    on_*: O(1), no allocation after construction; victim: O(1) + pinned keys met
/// @memory  8 bytes per key of the key space
/// @source  Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 1966
class Fifo {
 public:
  static constexpr std::string_view name = "fifo";

  explicit Fifo(KeySpace space) : order_(space) {}

  void on_insert(ExpertKey key) noexcept { order_.push_newest(key); }
  void on_hit(ExpertKey) noexcept {}
  void on_erase(ExpertKey key) noexcept { order_.erase(key); }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) const {
    return order_.find_oldest(evictable);
  }

 private:
  detail::LinkedOrder order_;
};
static_assert(EvictionPolicy<Fifo>);

}  // namespace lazymoe::cache
