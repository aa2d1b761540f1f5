#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../simd/math.hpp"
#include "top_k.hpp"

namespace lazymoe::moe {

/// Turns the router's logits of one token into experts and their weights.
///
/// Laws, checked for every router by tests/moe/router_laws.hpp:
///   1. experts are distinct and in falling order of score; ties go to the lower index
///   2. weights are not negative
///   3. the result depends on the logits alone
// clang-format off
template <class R>
concept Router = requires(const R router, std::span<float> logits, std::span<ExpertIndex> experts,
                          std::span<float> weights) {
  { router.route(logits, experts, weights) } noexcept -> std::same_as<void>;
};
// clang-format on

/// Softmax over all experts, then the k largest.
///
/// @source Shazeer et al., "Outrageously Large Neural Networks", 2017; the clamp is the reference's
struct SoftmaxTopK {
  bool renormalise = true;  ///< divide the chosen weights by their sum: Qwen3 does, OLMoE does not
  float scale = 1.0F;       ///< multiplies the weights at the end

  /// @shape logits[n_experts] (overwritten by scores) -> experts[k], weights[k]
  void route(std::span<float> logits, std::span<ExpertIndex> experts, std::span<float> weights) const noexcept {
    LAZYMOE_EXPECTS(experts.size() == weights.size());
    simd::softmax(logits.data(), logits.size());
    top_k(logits, experts);
    double sum = 0.0;
    for (std::size_t j = 0; j < experts.size(); ++j) sum += static_cast<double>(weights[j] = logits[experts[j]]);
    if (renormalise) {
      constexpr float smallest_normal_half = 0x1p-14F;
      const float divisor = std::max(static_cast<float>(sum), smallest_normal_half);
      for (float& w : weights) w /= divisor;
    }
    for (float& w : weights) w *= scale;
  }
};
static_assert(Router<SoftmaxTopK>);

}  // namespace lazymoe::moe
