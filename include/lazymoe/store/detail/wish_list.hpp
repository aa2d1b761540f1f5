#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../../core/types.hpp"

namespace lazymoe::store::detail {

/// An expert that somebody guesses to be needed.
struct Wish {
  LayerIndex layer = 0;
  ExpertIndex expert = 0;
  std::uint32_t layers_ahead = 0;  ///< from the layer that was asked for last
};

/// Guesses by layer, of which the next layer's come first. Those of layers that have been passed are stale.
class WishList {
 public:
  explicit WishList(KeySpace space) : space_(space), wishes_(space.layers) {}

  /// Replaces the wishes for a layer, the likeliest first, by those of `experts` that are wanted(expert).
  template <class Wanted>
  void set(LayerIndex layer, std::span<const ExpertIndex> experts, Wanted&& wanted) {
    std::vector<ExpertIndex>& wishes = wishes_[layer];
    n_ -= wishes.size();
    wishes.clear();
    for (std::size_t i = experts.size(); i-- > 0;) {
      if (experts[i] < space_.experts && wanted(experts[i])) wishes.push_back(experts[i]);
    }
    n_ += wishes.size();
  }

  /// Forgets all wishes.
  void clear() noexcept {
    for (auto& wishes : wishes_) wishes.clear();
    n_ = 0;
  }

  /// A layer is being run: what was wished for it, and for those that half a round of layers ago were to come, is stale.
  void pass(LayerIndex layer) noexcept {
    present_ = layer;
    for (LayerIndex l = 0; l < space_.layers && n_ > 0; ++l) {
      if (ahead(l) != 0 && 2 * ahead(l) <= space_.layers) continue;
      n_ -= wishes_[l].size();
      wishes_[l].clear();
    }
  }

  /// Takes the likeliest wish of the nearest layer.
  [[nodiscard]] std::optional<Wish> next() noexcept {
    for (std::uint32_t d = 0; d < space_.layers && n_ > 0; ++d) {
      const LayerIndex layer = (present_ + d) % space_.layers;
      std::vector<ExpertIndex>& wishes = wishes_[layer];
      if (wishes.empty()) continue;
      const Wish wish{.layer = layer, .expert = wishes.back(), .layers_ahead = d};
      wishes.pop_back();
      --n_;
      return wish;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool empty() const noexcept { return n_ == 0; }

 private:
  [[nodiscard]] std::uint32_t ahead(LayerIndex layer) const noexcept {
    return (layer + space_.layers - present_) % space_.layers;
  }

  KeySpace space_;
  std::vector<std::vector<ExpertIndex>> wishes_;  ///< by layer, the likeliest last
  std::size_t n_ = 0;
  LayerIndex present_ = 0;
};

}  // namespace lazymoe::store::detail
