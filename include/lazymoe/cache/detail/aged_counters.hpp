#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../core/types.hpp"

namespace lazymoe::cache::detail {

/// How often each key was used, with a fading memory: every `window` uses all counts are halved, rounding down.
///
/// @cost    O(1), and O(keys) once a window
/// @memory  4 bytes per key of the key space; no allocation after construction
/// @source  the reset of Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", 2017;
///          exact instead of a sketch, as the keys are few and known
class AgedCounters {
 public:
  /// Uses per key of the key space in a window: enough to tell a popular expert from an average one.
  static constexpr std::uint64_t default_uses_per_key = 8;

  explicit AgedCounters(KeySpace space) : AgedCounters(space, default_uses_per_key * space.size()) {}
  AgedCounters(KeySpace space, std::uint64_t window)
      : counts_(space.size()), window_(std::clamp<std::uint64_t>(window, 1, std::uint64_t{1} << 31)) {}

  [[nodiscard]] std::uint32_t operator[](ExpertKey key) const noexcept { return counts_[index(key)]; }

  void use(ExpertKey key) noexcept {
    ++counts_[index(key)];
    if (++uses_in_window_ < window_) return;
    uses_in_window_ = 0;
    for (std::uint32_t& count : counts_) count /= 2;
  }

 private:
  std::vector<std::uint32_t> counts_;  ///< by key; below two windows, so they cannot overflow
  std::uint64_t window_;
  std::uint64_t uses_in_window_ = 0;
};

}  // namespace lazymoe::cache::detail
