#include <lazymoe/moe/top_k.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::moe {
namespace {

std::vector<ExpertIndex> best(const std::vector<float>& scores, std::size_t k) {
  std::vector<ExpertIndex> out(k, 9999);
  top_k(scores, out);
  return out;
}

}  // namespace

TEST_CASE("top_k names the largest scores, largest first", "[moe]") {
  CHECK(best({0.1F, 0.9F, 0.3F, 0.7F}, 2) == std::vector<ExpertIndex>{1, 3});
  CHECK(best({0.1F, 0.9F, 0.3F, 0.7F}, 4) == std::vector<ExpertIndex>{1, 3, 2, 0});
  CHECK(best({0.1F}, 1) == std::vector<ExpertIndex>{0});
  CHECK(best({0.1F, 0.2F}, 0).empty());
}

TEST_CASE("Of equal scores the lower index comes first", "[moe]") {
  CHECK(best({1, 1, 1, 1}, 2) == std::vector<ExpertIndex>{0, 1});
  CHECK(best({0, 1, 2, 1, 2, 1}, 4) == std::vector<ExpertIndex>{2, 4, 1, 3});
  CHECK(best({0.0F, -0.0F, 0.0F}, 3) == std::vector<ExpertIndex>{0, 1, 2});
}

TEST_CASE("top_k is the beginning of a stable sort", "[moe]") {
  const std::size_t n = GENERATE(1U, 2U, 7U, 64U, 128U);
  const bool with_ties = GENERATE(false, true);
  CAPTURE(n, with_ties);
  test::Noise noise(n);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::vector<float> scores = noise.values(n);
    if (with_ties) {
      for (float& s : scores) s = std::round(4.0F * s);
    }
    std::vector<ExpertIndex> sorted(n);
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::stable_sort(sorted.begin(), sorted.end(), [&](ExpertIndex a, ExpertIndex b) { return scores[a] > scores[b]; });
    for (std::size_t k = 0; k <= n; ++k) {
      const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(k);
      REQUIRE(best(scores, k) == std::vector<ExpertIndex>(sorted.begin(), end));
    }
  }
}

TEST_CASE("Scores of minus infinity come last", "[moe]") {
  const float masked = -std::numeric_limits<float>::infinity();
  CHECK(best({masked, -5, masked, -7}, 3) == std::vector<ExpertIndex>{1, 3, 0});
}

TEST_CASE("NaN among the scores never names an expert twice or one that is not there", "[moe]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  test::Noise noise(3);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<float> scores = noise.values(9);
    for (float& s : scores) {
      if (noise.bits() % 3 == 0) s = nan;
    }
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      auto found = best(scores, k);
      std::sort(found.begin(), found.end());
      REQUIRE(std::adjacent_find(found.begin(), found.end()) == found.end());
      REQUIRE(found.back() < scores.size());
    }
  }
}

}  // namespace lazymoe::moe
