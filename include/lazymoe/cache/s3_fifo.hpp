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

/// Three FIFOs. Newcomers wait in a small one (a tenth of the residents) and leave from it unless they were hit more
/// than once; those that were go on to the main one, where every hit, up to three, spares once. Who left the small one
/// and comes back while a ghost goes straight to the main one.
///
/// @cost    on_*: O(1), no allocation after construction; victim: amortised O(1) + pinned keys met
/// @memory  26 bytes per key of the key space
/// @source  Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023
class S3Fifo {
 public:
  static constexpr std::string_view name = "s3-fifo";

  explicit S3Fifo(KeySpace space)
      : small_(space), main_(space), ghosts_(space), hits_(space.size()), places_(space.size(), Place::nowhere) {}

  void on_insert(ExpertKey key) noexcept {
    hits_[index(key)] = 0;
    if (place(key) == Place::ghosts) {
      ghosts_.erase(key);
      put(key, Place::main, main_);
    } else {
      put(key, Place::small, small_);
    }
  }

  void on_hit(ExpertKey key) noexcept {
    if (hits_[index(key)] < 3) ++hits_[index(key)];
  }

  void on_erase(ExpertKey key) noexcept {
    const std::size_t residents = small_.size() + main_.size();
    if (place(key) == Place::main) {
      main_.erase(key);
      place(key) = Place::nowhere;
      return;
    }
    small_.erase(key);
    put(key, Place::ghosts, ghosts_);
    // As many ghosts as the main queue has room for.
    while (ghosts_.size() > residents - residents / small_share) {
      const ExpertKey forgotten = *ghosts_.oldest();
      ghosts_.erase(forgotten);
      place(forgotten) = Place::nowhere;
    }
  }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) {
    // Every lap moves a key out of the small queue or takes a hit from one of the main queue, so there are few.
    for (;;) {
      const auto young = small_.find_oldest(evictable);
      const bool small_is_full = small_.size() * small_share >= small_.size() + main_.size();
      const auto old = young && small_is_full ? std::nullopt : main_.find_oldest(evictable);
      if (old) {
        if (hits_[index(*old)] == 0) return old;
        --hits_[index(*old)];
        main_.move_to_newest(*old);
      } else if (young) {
        if (hits_[index(*young)] <= 1) return young;
        small_.erase(*young);
        hits_[index(*young)] = 0;
        put(*young, Place::main, main_);
      } else {
        return std::nullopt;
      }
    }
  }

 private:
  static constexpr std::size_t small_share = 10;  ///< the small queue is one part in so many

  enum class Place : std::uint8_t { nowhere, small, main, ghosts };

  [[nodiscard]] Place& place(ExpertKey key) noexcept { return places_[index(key)]; }

  void put(ExpertKey key, Place where, detail::LinkedOrder& queue) noexcept {
    queue.push_newest(key);
    place(key) = where;
  }

  detail::LinkedOrder small_;
  detail::LinkedOrder main_;
  detail::LinkedOrder ghosts_;
  std::vector<std::uint8_t> hits_;  ///< by key: since it came in or was spared, at most 3
  std::vector<Place> places_;       ///< by key
};
static_assert(EvictionPolicy<S3Fifo>);

}  // namespace lazymoe::cache
