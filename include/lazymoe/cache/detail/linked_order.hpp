#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "../../core/contract.hpp"
#include "../../core/types.hpp"

namespace lazymoe::cache::detail {

/// Some of the keys of a key space in a line from the oldest to the newest.
///
/// @cost    every operation O(1) but find_oldest; no allocation after construction
/// @memory  8 bytes per key of the key space
class LinkedOrder {
 public:
  explicit LinkedOrder(KeySpace space) : nodes_(space.size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::optional<ExpertKey> oldest() const noexcept { return key(oldest_); }
  [[nodiscard]] std::optional<ExpertKey> newest() const noexcept { return key(newest_); }

  /// The neighbour of a key in the line, on the side of the newest.
  [[nodiscard]] std::optional<ExpertKey> newer(ExpertKey of) const noexcept { return key(nodes_[index(of)].newer); }

  /// @pre the key is not in the line
  void push_newest(ExpertKey added) noexcept {
    const auto id = static_cast<std::uint32_t>(added);
    nodes_[id] = {.older = newest_, .newer = nil};
    (newest_ == nil ? oldest_ : nodes_[newest_].newer) = id;
    newest_ = id;
    ++size_;
  }

  /// @pre the key is in the line
  void erase(ExpertKey erased) noexcept {
    LAZYMOE_EXPECTS(size_ > 0);
    const Node node = nodes_[index(erased)];
    (node.older == nil ? oldest_ : nodes_[node.older].newer) = node.newer;
    (node.newer == nil ? newest_ : nodes_[node.newer].older) = node.older;
    --size_;
  }

  /// @pre the key is in the line
  void move_to_newest(ExpertKey moved) noexcept {
    erase(moved);
    push_newest(moved);
  }

  /// The oldest key that satisfies `pred`.
  /// @cost one step per key passed over
  template <std::predicate<ExpertKey> Pred>
  [[nodiscard]] std::optional<ExpertKey> find_oldest(Pred&& pred) const {
    for (std::uint32_t id = oldest_; id != nil; id = nodes_[id].newer) {
      if (pred(ExpertKey{id})) return ExpertKey{id};
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t nil = ~std::uint32_t{0};

  struct Node {
    std::uint32_t older = nil;
    std::uint32_t newer = nil;
  };

  static std::optional<ExpertKey> key(std::uint32_t id) noexcept {
    return id == nil ? std::nullopt : std::optional(ExpertKey{id});
  }

  std::vector<Node> nodes_;
  std::uint32_t oldest_ = nil;
  std::uint32_t newest_ = nil;
  std::size_t size_ = 0;
};

}  // namespace lazymoe::cache::detail
