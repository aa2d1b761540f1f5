#pragma once

#include <random>
#include <utility>
#include <vector>

#include <lazymoe/store/prefetch.hpp>

#include "store/source_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe::test {

/// Drives P and a twin with seeded routes.
template <store::PrefetchPolicy P>
void check_prefetch_laws(std::uint32_t seed, P policy = {}, P twin = {}) {
  constexpr KeySpace space{.layers = 4, .experts = 9};
  using Wishes = std::vector<std::pair<LayerIndex, std::vector<ExpertIndex>>>;
  std::mt19937 random(seed);
  bool in_space = true;
  bool equal = true;
  for (int step = 0; step < 500; ++step) {
    const auto experts = random_experts(random, space.experts, 1 + random() % 4);
    const store::RouteEvent event{
        .layer = static_cast<LayerIndex>(random() % space.layers), .position = 0, .experts = experts, .weights = {}};
    const auto wishes_of = [&](P& p) {
      Wishes wishes;
      p.on_route(event, space, [&](LayerIndex layer, std::span<const ExpertIndex> its) {
        wishes.emplace_back(layer, std::vector(its.begin(), its.end()));
      });
      return wishes;
    };
    const Wishes wishes = wishes_of(policy);
    equal = equal && wishes == wishes_of(twin);
    for (const auto& [layer, its] : wishes) {
      in_space = in_space && layer < space.layers;
      for (const ExpertIndex e : its) in_space = in_space && e < space.experts;
    }
  }
  CHECK(in_space);
  CHECK(equal);
  CHECK(policy.lookahead().depth == twin.lookahead().depth);
}

}  // namespace lazymoe::test
