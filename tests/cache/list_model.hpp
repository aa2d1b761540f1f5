#pragma once

#include <lazymoe/core/types.hpp>

#include <algorithm>
#include <list>
#include <optional>

namespace lazymoe::test {

/// FIFO and LRU as one would write them on a blackboard: a list, oldest first.
struct ListModel {
  bool moves_on_hit = false;
  std::list<ExpertKey> keys = {};

  void on_insert(ExpertKey key) { keys.push_back(key); }
  void on_hit(ExpertKey key) {
    if (!moves_on_hit) return;
    on_erase(key);
    on_insert(key);
  }
  void on_erase(ExpertKey key) { keys.remove(key); }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) {
    const auto found = std::ranges::find_if(keys, evictable);
    return found == keys.end() ? std::nullopt : std::optional(*found);
  }
};

}  // namespace lazymoe::test
