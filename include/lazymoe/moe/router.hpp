#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../simd/math.hpp"
#include "top_k.hpp"

namespace lazymoe::moe {

/// Turns the router's logits of one token into experts and their weights.
///
/// Laws, checked for every router by tests/moe/router_laws.hpp:
///   1. experts are distinct and in falling order of selection score; ties go to the lower index
///   2. weights are not negative
///   3. the result depends on the logits and the bias alone
// clang-format off
template <class R>
concept Router = requires(const R router, std::span<float> logits, std::span<const float> selection_bias,
                          std::span<ExpertIndex> experts, std::span<float> weights) {
  { router.route(logits, selection_bias, experts, weights) } noexcept -> std::same_as<void>;
};
// clang-format on

/// How logits become scores. Files give the number.
enum class Gating : std::uint8_t {
  softmax = 1,            ///< over all experts
  sigmoid = 2,            ///< of each
  softmax_of_chosen = 3,  ///< the logits rank; then a softmax over the chosen alone
};

/// Scores all experts, takes the k best and weighs them by their scores: what every family does, with settings.
///
/// @source Shazeer et al., "Outrageously Large Neural Networks", 2017; groups and selection bias: DeepSeek-V3, 2024;
///         the clamp is the reference's
struct TopKRouter {
  static constexpr std::size_t max_groups = 64;

  Gating gating = Gating::softmax;
  bool renormalise = true;        ///< divide the chosen weights by their sum: Qwen3 does, OLMoE does not
  float scale = 1.0F;             ///< multiplies the weights at the end
  std::size_t n_groups = 1;       ///< of experts, of equal size, at most max_groups
  std::size_t n_groups_used = 1;  ///< only the experts of the best groups can be chosen

  /// @shape logits[n_experts] (overwritten by scores), selection_bias[n_experts] or [0]: added to the scores for the
  ///        choice, not for the weights -> experts[k], weights[k]
  void route(std::span<float> logits, std::span<const float> selection_bias, std::span<ExpertIndex> experts,
             std::span<float> weights) const noexcept {
    LAZYMOE_EXPECTS(experts.size() == weights.size());
    LAZYMOE_EXPECTS(selection_bias.empty() || selection_bias.size() == logits.size());
    score(logits);
    choose(logits, selection_bias, experts);
    double sum = 0.0;
    for (std::size_t j = 0; j < experts.size(); ++j) weights[j] = logits[experts[j]];
    if (gating == Gating::softmax_of_chosen) softmax(weights);
    for (const float w : weights) sum += static_cast<double>(w);
    if (renormalise) {
      constexpr float smallest_normal_half = 0x1p-14F;
      const float divisor = std::max(static_cast<float>(sum), smallest_normal_half);
      for (float& w : weights) w /= divisor;
    }
    for (float& w : weights) w *= scale;
  }

 private:
  static void softmax(std::span<float> x) noexcept {
    simd::softmax(x.data(), x.size(), nullptr, simd::SoftmaxTail::one_by_one);
  }

  void score(std::span<float> logits) const noexcept {
    if (gating == Gating::softmax) softmax(logits);
    if (gating == Gating::sigmoid) {
      for (float& l : logits) l = simd::sigmoid(l);
    }
  }

  void choose(std::span<const float> scores, std::span<const float> bias,
              std::span<ExpertIndex> experts) const noexcept {
    const auto biased = [&](std::size_t e) { return bias.empty() ? scores[e] : scores[e] + bias[e]; };
    if (n_groups <= 1) {
      top_k(scores.size(), biased, experts);
      return;
    }
    LAZYMOE_EXPECTS(n_groups <= max_groups && n_groups_used <= n_groups && scores.size() % n_groups == 0);
    const std::size_t group_size = scores.size() / n_groups;
    // A group is as good as the sum of its two best experts.
    const auto group_score = [&](std::size_t g) {
      std::array<ExpertIndex, 2> best{};
      const std::size_t n = std::min<std::size_t>(best.size(), group_size);
      top_k(group_size, [&](std::size_t i) { return biased(g * group_size + i); }, std::span(best).first(n));
      float sum = 0.0F;
      for (std::size_t i = 0; i < n; ++i) sum += biased(g * group_size + best[i]);
      return sum;
    };
    std::array<ExpertIndex, max_groups> chosen_groups{};
    top_k(n_groups, group_score, std::span(chosen_groups).first(n_groups_used));
    std::array<bool, max_groups> open{};
    for (std::size_t i = 0; i < n_groups_used; ++i) open[chosen_groups[i]] = true;
    const auto masked = [&](std::size_t e) {
      return open[e / group_size] ? biased(e) : -std::numeric_limits<float>::infinity();
    };
    top_k(scores.size(), masked, experts);
  }
};
static_assert(Router<TopKRouter>);

}  // namespace lazymoe::moe
