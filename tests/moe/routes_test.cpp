#include <lazymoe/moe/routes.hpp>

#include <algorithm>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::moe {
namespace {

/// Gives every token `k` distinct experts.
void fill(Routes& routes, std::size_t n_tokens, std::size_t k, std::size_t n_experts, test::Noise& noise) {
  routes.reset(n_tokens, k);
  for (std::size_t t = 0; t < n_tokens; ++t) {
    std::vector<ExpertIndex> taken;
    for (ExpertIndex& e : routes.experts(t)) {
      do {
        e = static_cast<ExpertIndex>(noise.bits() % n_experts);
      } while (std::find(taken.begin(), taken.end(), e) != taken.end());
      taken.push_back(e);
    }
  }
}

template <class T>
std::vector<T> copy(std::span<const T> x) {
  return {x.begin(), x.end()};
}

}  // namespace

TEST_CASE("Routes list for every chosen expert its tokens and the places of the choice", "[moe]") {
  constexpr std::size_t n_experts = 11;
  test::Noise noise(1);
  Routes routes;  // one for all batches: nothing of the last may be left
  for (const std::size_t n_tokens : {20U, 1U, 7U, 33U, 2U}) {
    for (const std::size_t k : {1U, 3U, 11U}) {
      fill(routes, n_tokens, k, n_experts, noise);
      routes.group(n_experts);
      REQUIRE(routes.n_tokens() == n_tokens);
      REQUIRE(routes.k() == k);
      std::vector<ExpertIndex> chosen;
      for (ExpertIndex e = 0; e < n_experts; ++e) {
        std::vector<std::uint32_t> tokens;
        std::vector<std::uint32_t> places;
        for (std::uint32_t t = 0; t < n_tokens; ++t) {
          for (std::uint32_t j = 0; j < k; ++j) {
            if (routes.experts(t)[j] != e) continue;
            tokens.push_back(t);
            places.push_back(static_cast<std::uint32_t>(t * k + j));
          }
        }
        if (!tokens.empty()) chosen.push_back(e);
        REQUIRE(copy(routes.tokens(e)) == tokens);
        REQUIRE(copy(routes.places(e)) == places);
      }
      REQUIRE(copy(routes.chosen()) == chosen);
    }
  }
}

TEST_CASE("Experts and weights of a token lie beside each other", "[moe]") {
  Routes routes;
  routes.reset(3, 2);
  for (std::size_t t = 0; t < 3; ++t) {
    routes.experts(t)[0] = static_cast<ExpertIndex>(t);
    routes.experts(t)[1] = 7;
    routes.weights(t)[0] = static_cast<float>(t);
    routes.weights(t)[1] = 0.5F;
  }
  const Routes& read = routes;
  CHECK(copy(read.experts(2)) == std::vector<ExpertIndex>{2, 7});
  CHECK(copy(read.weights(1)) == std::vector<float>{1.0F, 0.5F});
}

TEST_CASE("An empty batch chooses no expert", "[moe]") {
  Routes routes;
  CHECK(routes.n_tokens() == 0);
  routes.reset(0, 4);
  routes.group(8);
  CHECK(routes.n_tokens() == 0);
  CHECK(routes.chosen().empty());
  CHECK(routes.tokens(3).empty());
}

}  // namespace lazymoe::moe
