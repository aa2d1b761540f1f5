#pragma once

#include <lazymoe/core/types.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace lazymoe::test {

/// LFU as one would write it on a blackboard: counts of keys, searched for the smallest.
struct CountModel {
  std::uint64_t window = ~std::uint64_t{0};                                  ///< uses until the counts are halved
  bool ghosts = true;                                                        ///< who left keeps its count
  std::map<ExpertKey, std::pair<std::uint64_t, std::uint64_t>> counts = {};  ///< uses, time of the last
  std::set<ExpertKey> resident = {};
  std::uint64_t now = 0;

  void on_insert(ExpertKey key) {
    resident.insert(key);
    on_hit(key);
  }
  void on_hit(ExpertKey key) {
    ++counts[key].first;
    counts[key].second = ++now;
    if (now % window != 0) return;
    for (auto& [k, count] : counts) count.first /= 2;
  }
  void on_erase(ExpertKey key) {
    resident.erase(key);
    if (!ghosts) counts.erase(key);
  }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) {
    std::optional<ExpertKey> best;
    for (const ExpertKey key : resident) {
      if (evictable(key) && (!best || counts[key] < counts[*best])) best = key;
    }
    return best;
  }
};

}  // namespace lazymoe::test
