#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "../core/types.hpp"
#include "eviction.hpp"

namespace lazymoe::cache {

/// Knows that layers come in turn, pass after pass: an expert that the present pass has used leaves only when there is
/// no other, and of the others one leaves whose layer lies furthest ahead, which is the layer just passed. Within a
/// layer the least recently used leaves.
///
/// A pass begins when a lower layer follows a higher one.
///
/// @cost    on_*: O(1), no allocation after construction; victim: O(experts of a layer) for each layer it looks into,
///          mostly one
/// @memory  8 bytes per key of the key space
/// @source  the idea of Hoang et al., "SpecMD: a comprehensive study on speculative expert prefetching", 2026
class LeastStale {
 public:
  static constexpr std::string_view name = "least-stale";

  explicit LeastStale(KeySpace space) : space_(space), last_use_(space.size(), absent) {}

  void on_insert(ExpertKey key) noexcept { use(key); }
  void on_hit(ExpertKey key) noexcept { use(key); }
  void on_erase(ExpertKey key) noexcept { last_use_[index(key)] = absent; }

  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> victim(Pred&& evictable) const {
    for (const auto used_before : std::initializer_list<std::uint64_t>{pass_begin_, clock_ + 1}) {
      for (std::uint32_t back = 0; back < space_.layers; ++back) {
        const LayerIndex layer = (layer_ + space_.layers - back) % space_.layers;
        if (const auto found = oldest_of(layer, used_before, evictable)) return found;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t absent = ~std::uint64_t{0};

  void use(ExpertKey key) noexcept {
    const LayerIndex layer = space_.layer(key);
    last_use_[index(key)] = ++clock_;
    if (layer < layer_) pass_begin_ = clock_;
    layer_ = layer;
  }

  template <class Pred>
  [[nodiscard]] std::optional<ExpertKey> oldest_of(LayerIndex layer, std::uint64_t used_before, Pred& evictable) const {
    std::optional<ExpertKey> oldest;
    for (ExpertIndex expert = 0; expert < space_.experts; ++expert) {
      const ExpertKey key = space_.key(layer, expert);
      const std::uint64_t use = last_use_[index(key)];
      if (use >= used_before || (oldest && use > last_use_[index(*oldest)]) || !evictable(key)) continue;
      oldest = key;
    }
    return oldest;
  }

  KeySpace space_;
  std::vector<std::uint64_t> last_use_;  ///< by key; absent: not resident
  std::uint64_t clock_ = 0;
  std::uint64_t pass_begin_ = 0;  ///< time of the first use of the present pass
  LayerIndex layer_ = 0;          ///< of the last use
};
static_assert(EvictionPolicy<LeastStale>);

}  // namespace lazymoe::cache
