#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "../../core/contract.hpp"
#include "../../core/types.hpp"

namespace lazymoe::cache::detail {

/// How often a key was used, then when last: no two keys are equal once used, so orders by rank are total.
struct Rank {
  std::uint64_t uses = 0;
  std::uint64_t last_use = 0;

  friend constexpr auto operator<=>(const Rank&, const Rank&) = default;
};

/// The resident keys of a key space in a binary heap, lowest rank first; ranks of absent keys are remembered.
///
/// @cost    use, insert, erase: O(log residents); find_lowest: O(keys refused by the predicate); halve: O(keys)
/// @memory  24 bytes per key of the key space; no allocation after construction
class RankedHeap {
 public:
  explicit RankedHeap(KeySpace space) : ranks_(space.size()), places_(space.size(), absent), heap_(space.size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const Rank& rank(ExpertKey key) const noexcept { return ranks_[index(key)]; }

  /// Counts a use of a key, resident or not.
  void use(ExpertKey key) noexcept {
    ranks_[index(key)] = {.uses = rank(key).uses + 1, .last_use = ++clock_};
    if (const auto place = places_[index(key)]; place != absent) sift_down(place);
  }

  /// @pre the key is not in the heap
  void insert(ExpertKey key) noexcept {
    LAZYMOE_EXPECTS(places_[index(key)] == absent);
    put(size_++, key);
    sift_up(size_ - 1);
  }

  /// @pre the key is in the heap
  void erase(ExpertKey key) noexcept {
    const std::size_t place = places_[index(key)];
    LAZYMOE_EXPECTS(place != absent);
    const ExpertKey last = heap_[--size_];
    places_[index(key)] = absent;
    if (last == key) return;
    put(place, last);
    sift_up(place);
    sift_down(places_[index(last)]);
  }

  /// Counts the uses of a key from zero again.
  /// @pre the key is not in the heap
  void forget(ExpertKey key) noexcept {
    LAZYMOE_EXPECTS(places_[index(key)] == absent);
    ranks_[index(key)].uses = 0;
  }

  /// Halves every count, rounding down.
  void halve() noexcept {
    for (Rank& rank : ranks_) rank.uses /= 2;
    // Counts that became equal are now told apart by time, so parents and children may have to swap.
    for (std::size_t place = size_ / 2; place-- > 0;) sift_down(place);
  }

  /// The resident key of lowest rank that satisfies `pred`.
  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> find_lowest(Pred&& pred) const {
    std::optional<ExpertKey> best;
    search(0, pred, best);
    return best;
  }

 private:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  [[nodiscard]] bool below(ExpertKey a, ExpertKey b) const noexcept { return rank(a) < rank(b); }

  void put(std::size_t place, ExpertKey key) noexcept {
    heap_[place] = key;
    places_[index(key)] = static_cast<std::uint32_t>(place);
  }

  void swap(std::size_t a, std::size_t b) noexcept {
    const ExpertKey key = heap_[a];
    put(a, heap_[b]);
    put(b, key);
  }

  void sift_up(std::size_t place) noexcept {
    for (; place > 0 && below(heap_[place], heap_[(place - 1) / 2]); place = (place - 1) / 2) {
      swap(place, (place - 1) / 2);
    }
  }

  void sift_down(std::size_t place) noexcept {
    for (std::size_t child = 2 * place + 1; child < size_; place = child, child = 2 * place + 1) {
      if (child + 1 < size_ && below(heap_[child + 1], heap_[child])) ++child;
      if (!below(heap_[child], heap_[place])) return;
      swap(place, child);
    }
  }

  /// Improves `best` by the subtree at `place`; descends only below keys that `pred` refuses.
  template <class Pred>
  void search(std::size_t place, Pred& pred, std::optional<ExpertKey>& best) const {
    if (place >= size_ || (best && !below(heap_[place], *best))) return;
    if (pred(heap_[place])) {
      best = heap_[place];
      return;
    }
    search(2 * place + 1, pred, best);
    search(2 * place + 2, pred, best);
  }

  std::vector<Rank> ranks_;            ///< by key
  std::vector<std::uint32_t> places_;  ///< by key: index in heap_
  std::vector<ExpertKey> heap_;        ///< the first size_ are in use
  std::size_t size_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace lazymoe::cache::detail
