#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "../core/types.hpp"
#include "detail/linked_order.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// SIEVE: a FIFO whose hand spares, once, what was hit since the hand last passed.
///
/// @cost    on_*: O(1), no allocation after construction; victim: amortised O(1) + pinned keys met
/// @memory  9 bytes per key of the key space
/// @source  Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024
class Sieve {
 public:
  static constexpr std::string_view name = "sieve";

  explicit Sieve(KeySpace space) : order_(space), visited_(space.size()) {}

  void on_insert(ExpertKey key) noexcept {
    order_.push_newest(key);
    visited_[index(key)] = 0;
  }

  void on_hit(ExpertKey key) noexcept { visited_[index(key)] = 1; }

  void on_erase(ExpertKey key) noexcept {
    if (hand_ == key) hand_ = order_.newer(key);
    order_.erase(key);
  }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) {
    // The first lap clears every mark it meets, so the second finds a victim if there is one.
    for (std::size_t step = 0; step < 2 * order_.size(); ++step) {
      if (!hand_) hand_ = order_.oldest();
      const ExpertKey key = *hand_;
      if (evictable(key)) {
        if (visited_[index(key)] == 0) return key;
        visited_[index(key)] = 0;
      }
      hand_ = order_.newer(key);
    }
    return std::nullopt;
  }

 private:
  detail::LinkedOrder order_;
  std::vector<std::uint8_t> visited_;  ///< by key
  std::optional<ExpertKey> hand_;      ///< none: the next lap begins at the oldest
};
static_assert(EvictionPolicy<Sieve>);

}  // namespace lazymoe::cache
