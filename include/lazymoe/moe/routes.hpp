#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../core/types.hpp"

namespace lazymoe::moe {

/// What a router chose for every token of a batch, and the same turned round: for every chosen expert, its tokens.
///
/// @memory keeps its arrays between batches
class Routes {
 public:
  void reset(std::size_t n_tokens, std::size_t k) {
    k_ = k;
    experts_.resize(n_tokens * k);
    weights_.resize(n_tokens * k);
  }

  [[nodiscard]] std::size_t n_tokens() const noexcept { return k_ == 0 ? 0 : experts_.size() / k_; }
  [[nodiscard]] std::size_t k() const noexcept { return k_; }

  /// The experts of token `t`, best first.
  [[nodiscard]] std::span<ExpertIndex> experts(std::size_t t) noexcept { return {experts_.data() + t * k_, k_}; }
  [[nodiscard]] std::span<const ExpertIndex> experts(std::size_t t) const noexcept {
    return {experts_.data() + t * k_, k_};
  }
  [[nodiscard]] std::span<float> weights(std::size_t t) noexcept { return {weights_.data() + t * k_, k_}; }
  [[nodiscard]] std::span<const float> weights(std::size_t t) const noexcept { return {weights_.data() + t * k_, k_}; }

  /// Groups the choices by expert; call once all tokens are routed.
  void group(std::size_t n_experts) {
    firsts_.assign(n_experts + 1, 0);
    for (const ExpertIndex e : experts_) ++firsts_[e + 1];
    chosen_.clear();
    for (std::size_t e = 0; e < n_experts; ++e) {
      if (firsts_[e + 1] > 0) chosen_.push_back(static_cast<ExpertIndex>(e));
      firsts_[e + 1] += firsts_[e];
    }
    tokens_.resize(experts_.size());
    places_.resize(experts_.size());
    cursors_.assign(firsts_.begin(), firsts_.end());
    for (std::size_t i = 0; i < experts_.size(); ++i) {
      const std::size_t at = cursors_[experts_[i]]++;
      tokens_[at] = static_cast<std::uint32_t>(i / k_);
      places_[at] = static_cast<std::uint32_t>(i);
    }
  }

  /// The union of the batch's experts, in rising order: what has to be loaded, each once.
  [[nodiscard]] std::span<const ExpertIndex> chosen() const noexcept { return chosen_; }

  /// The tokens that chose `expert`, in order.
  [[nodiscard]] std::span<const std::uint32_t> tokens(ExpertIndex expert) const noexcept {
    return range(tokens_, expert);
  }
  /// For each of tokens(expert), the place t * k + j of the choice.
  [[nodiscard]] std::span<const std::uint32_t> places(ExpertIndex expert) const noexcept {
    return range(places_, expert);
  }

 private:
  [[nodiscard]] std::span<const std::uint32_t> range(const std::vector<std::uint32_t>& all,
                                                     ExpertIndex expert) const noexcept {
    return {all.data() + firsts_[expert], firsts_[expert + 1] - firsts_[expert]};
  }

  std::size_t k_ = 0;
  std::vector<ExpertIndex> experts_;  // [n_tokens, k]
  std::vector<float> weights_;        // [n_tokens, k]
  std::vector<std::size_t> firsts_;   // [n_experts + 1]: where an expert's tokens begin
  std::vector<std::size_t> cursors_;
  std::vector<ExpertIndex> chosen_;
  std::vector<std::uint32_t> tokens_;
  std::vector<std::uint32_t> places_;
};

}  // namespace lazymoe::moe
