#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// The oracle: of all residents the one leaves that is needed again last, or never. Hits the most that any policy can,
/// and is made from what will happen, so that only a replay can run it.
///
/// @cost   on_*: O(1), no allocation after construction; victim: O(keys)
/// @memory 20 bytes per key and 4 per use
/// @source Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 1966
class Belady {
 public:
  static constexpr std::string_view name = "belady";

  /// @param uses every key that will be used, inserted or hit, in order; of uses that happen at once (as the experts of
  ///             a layer do) the order among each other means nothing
  /// @pre   uses.size() < 2^32 - 1
  Belady(KeySpace space, std::span<const ExpertKey> uses)
      : begins_(space.size() + 1), times_(uses.size()), cursors_(space.size()), resident_(space.size()) {
    for (const ExpertKey key : uses) ++begins_[index(key) + 1];
    for (std::size_t i = 0; i < space.size(); ++i) begins_[i + 1] += begins_[i];
    for (std::size_t i = 0; i < space.size(); ++i) cursors_[i] = begins_[i];
    for (std::size_t time = 0; time < uses.size(); ++time) {
      times_[cursors_[index(uses[time])]++] = static_cast<std::uint32_t>(time);
    }
    for (std::size_t i = 0; i < space.size(); ++i) cursors_[i] = begins_[i];
  }

  void on_insert(ExpertKey key) noexcept {
    resident_[index(key)] = 1;
    use(key);
  }
  void on_hit(ExpertKey key) noexcept { use(key); }
  void on_erase(ExpertKey key) noexcept { resident_[index(key)] = 0; }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) const {
    std::optional<ExpertKey> best;
    std::uint32_t best_time = 0;
    for (std::size_t i = 0; i < resident_.size(); ++i) {
      const ExpertKey key{static_cast<std::uint32_t>(i)};
      if (resident_[i] == 0 || (best && next_use(key) <= best_time) || !evictable(key)) continue;
      best = key;
      best_time = next_use(key);
    }
    return best;
  }

 private:
  static constexpr std::uint32_t never = ~std::uint32_t{0};

  void use(ExpertKey key) noexcept {
    LAZYMOE_EXPECTS(cursors_[index(key)] < begins_[index(key) + 1]);  // as was foretold
    ++cursors_[index(key)];
  }
  [[nodiscard]] std::uint32_t next_use(ExpertKey key) const noexcept {
    const std::uint32_t cursor = cursors_[index(key)];
    return cursor == begins_[index(key) + 1] ? never : times_[cursor];
  }

  std::vector<std::uint32_t> begins_;   ///< by key: of its part of times_; one more for the end
  std::vector<std::uint32_t> times_;    ///< of use, by key, then by time
  std::vector<std::uint32_t> cursors_;  ///< by key: index into times_ of the next use
  std::vector<std::uint8_t> resident_;  ///< by key
};
static_assert(EvictionEvents<Belady> && !EvictionPolicy<Belady>);

}  // namespace lazymoe::cache
