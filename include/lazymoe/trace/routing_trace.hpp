#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"

namespace lazymoe::trace {

/// What routers chose, in the order in which a model asked for it: the experts of a layer at once, layer after layer,
/// token after token.
class RoutingTrace {
 public:
  explicit RoutingTrace(KeySpace space) : space_(space) {}

  [[nodiscard]] KeySpace space() const noexcept { return space_; }
  [[nodiscard]] std::size_t n_steps() const noexcept { return ends_.size(); }

  /// The experts of one layer that one token asked for at once.
  [[nodiscard]] std::span<const ExpertKey> step(std::size_t i) const noexcept {
    LAZYMOE_EXPECTS(i < n_steps());
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(keys_).subspan(begin, ends_[i] - begin);
  }

  /// All steps, one after the other.
  [[nodiscard]] std::span<const ExpertKey> keys() const noexcept { return keys_; }

  /// The most experts that a step asks for.
  [[nodiscard]] std::size_t widest_step() const noexcept {
    std::size_t widest = 0;
    for (std::size_t i = 0; i < n_steps(); ++i) widest = std::max(widest, step(i).size());
    return widest;
  }

  /// @pre the experts are distinct and of this layer of the space
  void add_step(LayerIndex layer, std::span<const ExpertIndex> experts) {
    for (const ExpertIndex expert : experts) {
      LAZYMOE_EXPECTS(layer < space_.layers && expert < space_.experts);
      keys_.push_back(space_.key(layer, expert));
    }
    ends_.push_back(keys_.size());
  }

 private:
  KeySpace space_;
  std::vector<ExpertKey> keys_;
  std::vector<std::size_t> ends_;  ///< of each step in keys_
};

}  // namespace lazymoe::trace
