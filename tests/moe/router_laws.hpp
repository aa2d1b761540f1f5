#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <lazymoe/moe/router.hpp>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::test {

/// Feeds a router seeded logits, some of them tied and some extreme, and checks its laws.
/// @param score what the router ranks by, from the logits and the bias (empty if not `with_bias`): a function of vectors
template <moe::Router R, class Score>
void check_router_laws(const R& router, std::uint64_t seed, bool with_bias, Score&& score) {
  Noise noise(seed);
  for (int step = 0; step < 200; ++step) {
    const std::size_t n = 1 + noise.bits() % 70;
    const std::size_t k = 1 + noise.bits() % std::min<std::size_t>(n, 10);
    std::vector<float> logits = noise.values(n, step % 5 == 0 ? 80.0F : 4.0F);
    if (step % 3 == 0) {
      for (float& l : logits) l = std::round(l);
    }
    const std::vector<float> bias = with_bias ? noise.values(n, 0.5F) : std::vector<float>{};
    std::vector<ExpertIndex> experts(k);
    std::vector<float> weights(k);
    std::vector<float> overwritten = logits;
    router.route(overwritten, bias, experts, weights);

    const std::vector<float> scores = score(logits, bias);
    std::vector<bool> chosen(n, false);
    for (std::size_t j = 0; j < k; ++j) {
      REQUIRE(experts[j] < n);
      REQUIRE_FALSE(chosen[experts[j]]);  // law 1: distinct
      chosen[experts[j]] = true;
      if (j > 0) {                        // law 1: falling, ties to the lower index
        const float before = scores[experts[j - 1]];
        const float now = scores[experts[j]];
        REQUIRE((before > now || (before == now && experts[j - 1] < experts[j])));
      }
      REQUIRE(weights[j] >= 0.0F);        // law 2
    }
    for (std::size_t e = 0; e < n; ++e) { // law 1: nothing better was left out
      const float last = scores[experts[k - 1]];
      REQUIRE((chosen[e] || scores[e] < last || (scores[e] == last && e > experts[k - 1])));
    }

    // Law 3: from another address, over other leftovers.
    std::vector<float> moved(n + 1);
    std::copy(logits.begin(), logits.end(), moved.begin() + 1);
    std::vector<ExpertIndex> same_experts(k, 12345);
    std::vector<float> same_weights(k, -1.0F);
    router.route(std::span(moved).subspan(1), bias, same_experts, same_weights);
    REQUIRE(same_experts == experts);
    REQUIRE(same_weights == weights);
  }
}

}  // namespace lazymoe::test
