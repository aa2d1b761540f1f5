#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/joined_name.hpp"
#include "../core/types.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// Another policy that spares some experts: one of those leaves only when no other can, so that a list longer than the
/// budget costs hits, not correctness. Which experts: see hot_set.hpp.
///
/// @cost    as Eviction, where pinned experts met are passed over
/// @memory  1 byte per key of the key space more than Eviction's
/// @source  the static placement of frequent experts of Kamahori et al., "Fiddler: CPU-GPU orchestration for fast
///          inference of mixture-of-experts models", 2024
template <EvictionPolicy Eviction>
class Pinned {
  static constexpr std::string_view prefix = "pinned-";

 public:
  static constexpr std::string_view name = JoinedName<prefix, Eviction::name>::value;

  /// Pins nothing.
  explicit Pinned(KeySpace space) : Pinned(space, Eviction(space), {}) {}

  /// @pre the keys are of `space`; one named twice is pinned as if once
  Pinned(KeySpace space, Eviction eviction, std::span<const ExpertKey> keys)
      : eviction_(std::move(eviction)), pinned_(space.size()) {
    for (const ExpertKey key : keys) pinned_.at(index(key)) = 1;
  }

  void on_insert(ExpertKey key) noexcept { eviction_.on_insert(key); }
  void on_hit(ExpertKey key) noexcept { eviction_.on_hit(key); }
  void on_erase(ExpertKey key) noexcept { eviction_.on_erase(key); }

  [[nodiscard]] bool pins(ExpertKey key) const noexcept { return pinned_[index(key)] != 0; }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) {
    const auto unpinned = [&](ExpertKey key) { return pinned_[index(key)] == 0 && evictable(key); };
    if (const auto found = eviction_.victim(unpinned)) return found;
    return eviction_.victim(evictable);
  }

 private:
  Eviction eviction_;
  std::vector<std::uint8_t> pinned_;  ///< by key
};

}  // namespace lazymoe::cache
