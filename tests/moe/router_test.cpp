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

Routed routed(const SoftmaxTopK& router, std::vector<float> logits, std::size_t k) {
  Routed r{std::vector<ExpertIndex>(k), std::vector<float>(k)};
  router.route(logits, r.experts, r.weights);
  return r;
}

/// Takes no weights.
struct NoRouter {
  void route(std::span<float>, std::span<ExpertIndex>) const noexcept {}
};
static_assert(!Router<NoRouter>);

}  // namespace

TEST_CASE("SoftmaxTopK obeys the laws of a router", "[moe]") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U);
  const bool renormalise = GENERATE(true, false);
  CAPTURE(seed, renormalise);
  test::check_router_laws(SoftmaxTopK{.renormalise = renormalise, .scale = 1.5F}, seed, [](std::vector<float> logits) {
    simd::softmax(logits.data(), logits.size());
    return logits;
  });
}

TEST_CASE("SoftmaxTopK chooses and weighs as the formula does", "[moe]") {
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
