#include <lazymoe/moe/router.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "moe/router_laws.hpp"
#include "reference/routed_ffn.hpp"
#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::moe {
namespace {

struct Routed {
  std::vector<ExpertIndex> experts;
  std::vector<float> weights;
};

Routed routed(const TopKRouter& router, std::vector<float> logits, std::size_t k,
              const std::vector<float>& bias = {}) {
  Routed r{std::vector<ExpertIndex>(k), std::vector<float>(k)};
  router.route(logits, bias, r.experts, r.weights);
  return r;
}

/// Takes no weights.
struct NoRouter {
  void route(std::span<float>, std::span<ExpertIndex>) const noexcept {}
};
static_assert(!Router<NoRouter>);

}  // namespace

TEST_CASE("TopKRouter of softmax scores obeys the laws of a router", "[moe]") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U);
  const bool renormalise = GENERATE(true, false);
  CAPTURE(seed, renormalise);
  test::check_router_laws(TopKRouter{.renormalise = renormalise, .scale = 1.5F}, seed, false,
                          [](std::vector<float> logits, const std::vector<float>&) {
                            simd::softmax(logits.data(), logits.size(), nullptr, simd::SoftmaxTail::one_by_one);
                            return logits;
                          });
}

TEST_CASE("TopKRouter of sigmoid scores obeys them too, and its bias chooses", "[moe]") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U);
  const bool with_bias = GENERATE(true, false);
  CAPTURE(seed, with_bias);
  test::check_router_laws(TopKRouter{.gating = Gating::sigmoid}, seed, with_bias,
                          [](std::vector<float> logits, const std::vector<float>& bias) {
                            for (std::size_t e = 0; e < logits.size(); ++e) {
                              logits[e] = 1.0F / (1.0F + std::exp(-logits[e])) + (bias.empty() ? 0.0F : bias[e]);
                            }
                            return logits;
                          });
}

TEST_CASE("TopKRouter of a softmax of the chosen obeys them too", "[moe]") {
  test::check_router_laws(TopKRouter{.gating = Gating::softmax_of_chosen, .renormalise = false}, 1, false,
                          [](std::vector<float> logits, const std::vector<float>&) { return logits; });
}

TEST_CASE("The selection bias chooses experts, and does not weigh them", "[moe]") {
  const std::vector<float> logits{1, 2, 0, -1};
  const auto sigmoid = [](float x) { return 1.0F / (1.0F + std::exp(-x)); };
  const TopKRouter router{.gating = Gating::sigmoid, .renormalise = false, .scale = 2.0F};
  CHECK(routed(router, logits, 2).experts == std::vector<ExpertIndex>{1, 0});
  const auto r = routed(router, logits, 2, {0.0F, 0.0F, 0.0F, 1.0F});
  CHECK(r.experts == std::vector<ExpertIndex>{3, 1});
  CHECK(r.weights == std::vector<float>{2.0F * sigmoid(-1), 2.0F * sigmoid(2)});
}

TEST_CASE("Only experts of the best groups are chosen, and a group counts by its two best", "[moe]") {
  // Groups of three: the first has the best expert, the second the best two.
  const std::vector<float> logits{5, -9, -9, 3, 3.5F, -9, 2, 1, 0, -9, -9, -9};
  TopKRouter router{.gating = Gating::softmax_of_chosen, .renormalise = false, .n_groups = 4, .n_groups_used = 1};
  CHECK(routed(router, logits, 3).experts == std::vector<ExpertIndex>{4, 3, 5});
  router.n_groups_used = 2;
  CHECK(routed(router, logits, 4).experts == std::vector<ExpertIndex>{4, 3, 6, 7});
  CHECK(routed(router, logits, 2, {0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}).experts == std::vector<ExpertIndex>{0, 4});
}

TEST_CASE("A softmax of the chosen alone sums to one", "[moe]") {
  const auto r = routed({.gating = Gating::softmax_of_chosen, .renormalise = false}, {3, 1, 2, 0}, 2);
  CHECK(r.experts == std::vector<ExpertIndex>{0, 2});
  CHECK(r.weights[0] + r.weights[1] == Approx(1.0));
  CHECK(r.weights[0] / r.weights[1] == Approx(std::exp(1.0)));
}

TEST_CASE("TopKRouter of softmax scores chooses and weighs as the formula does", "[moe]") {
  const bool renormalise = GENERATE(true, false);
  const float scale = GENERATE(1.0F, 2.5F);
  CAPTURE(renormalise, scale);
  test::Noise noise(4);
  for (const std::size_t n : {1U, 4U, 8U, 13U, 128U}) {
    const std::size_t k = std::min<std::size_t>(n, 8);
    const auto logits = noise.values(n, 5.0F);
    const auto r = routed({.renormalise = renormalise, .scale = scale}, logits, k);
    const auto expected =
        reference::route(reference::to_double(logits), k, renormalise, static_cast<double>(scale));
    for (std::size_t j = 0; j < k; ++j) {
      CHECK(r.experts[j] == expected[j].expert);
      CHECK(static_cast<double>(r.weights[j]) == Approx(expected[j].weight).epsilon(1e-6));
    }
  }
}

TEST_CASE("Renormalised weights sum to the scale", "[moe]") {
  const auto r = routed({.renormalise = true, .scale = 2.0F}, {3, 1, 2, 0}, 2);
  CHECK(r.experts == std::vector<ExpertIndex>{0, 2});
  CHECK(r.weights[0] + r.weights[1] == Approx(2.0));
  CHECK(r.weights[0] / r.weights[1] == Approx(std::exp(1.0)));
}

TEST_CASE("Weights that are not renormalised keep their share of all experts", "[moe]") {
  const auto r = routed({.renormalise = false}, {0, 0, 0, 0}, 2);
  CHECK(r.experts == std::vector<ExpertIndex>{0, 1});
  CHECK(r.weights == std::vector<float>{0.25F, 0.25F});
}

TEST_CASE("The sum that weights are divided by is at least the smallest normal half", "[moe]") {
  const std::vector<float> level(32768, 1.0F);  // each has a share of 2^-15
  CHECK(routed({}, level, 1).weights[0] == 0.5F);
  CHECK(routed({}, level, 2).weights == std::vector<float>{0.5F, 0.5F});
  CHECK(routed({}, level, 4).weights[0] == 0.25F);
}

}  // namespace lazymoe::moe
