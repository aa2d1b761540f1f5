#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <lazymoe/store/source.hpp>

#include "model_fixture.hpp"
#include "support/catch.hpp"

namespace lazymoe::test {

/// `k` distinct experts in no order.
inline std::vector<ExpertIndex> random_experts(std::mt19937& random, std::uint32_t n_experts, std::size_t k) {
  std::vector<ExpertIndex> all(n_experts);
  for (ExpertIndex e = 0; e < n_experts; ++e) all[e] = e;
  for (std::size_t i = 0; i < k; ++i) std::swap(all[i], all[i + random() % (all.size() - i)]);
  all.resize(k);
  return all;
}

/// Number of leases that are not the experts asked for, in the order asked for; waits for the last first.
inline std::size_t n_wrong(const ModelFixture& model, LayerIndex layer, const std::vector<ExpertIndex>& asked,
                           const store::Leases& leases) {
  std::size_t wrong = leases.size() == asked.size() ? 0 : 1;
  for (std::size_t i = leases.size(); i-- > 0;) {
    if (!model.is_expert(leases.wait(i), layer, asked[i]) || !leases.ready(i)) ++wrong;
  }
  return wrong;
}

/// How many experts of a layer are lent when all are asked for.
inline std::size_t most_leases(store::ExpertSource& source, LayerIndex layer, KeySpace space) {
  std::vector<ExpertIndex> all(space.experts);
  for (ExpertIndex e = 0; e < space.experts; ++e) all[e] = e;
  const store::Leases leases = source.acquire(layer, all, store::Use::prompt);
  for (std::size_t i = 0; i < leases.size(); ++i) (void)leases.wait(i);
  return leases.size();
}

/// What holds for every source of experts: each lease is the expert that was asked for, for any group in any order,
/// moved or not, from several threads at once; of a group that does not fit, the first are lent.
inline void check_source_laws(store::ExpertSource& source, const ModelFixture& model) {
  const KeySpace space = model.map.space();
  std::mt19937 random(5);
  for (LayerIndex layer = 0; layer < space.layers; ++layer) {
    const std::size_t most = most_leases(source, layer, space);
    REQUIRE(most >= model.map.n_used());
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, most, most}) {
      const auto asked = random_experts(random, space.experts, k);
      store::Leases leases = source.acquire(layer, asked, k % 2 == 0 ? store::Use::step : store::Use::prompt);
      CHECK(n_wrong(model, layer, asked, leases) == 0);
      for (const ExpertIndex e : asked) CHECK(source.resident(layer, e));
      const store::Leases moved(std::move(leases));
      CHECK(n_wrong(model, layer, asked, moved) == 0);
    }
  }

  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    threads.emplace_back([&source, &model, &wrong, space, seed] {
      std::mt19937 own(seed);
      for (int i = 0; i < 30; ++i) {
        const auto layer = static_cast<LayerIndex>(own() % space.layers);
        const std::size_t most = most_leases(source, layer, space);
        const auto asked = random_experts(own, space.experts, own() % (most + 1));
        wrong += n_wrong(model, layer, asked, source.acquire(layer, asked, store::Use::step));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace lazymoe::test
