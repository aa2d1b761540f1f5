#pragma once

#include <lazymoe/cache/eviction.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "support/allocations.hpp"
#include "support/catch.hpp"

namespace lazymoe::test {

/// Drives `policy`, made for `space`, by `steps` seeded events of a cache of `slots` experts beside `model`, a
/// policy that must choose the same victims, and checks the laws.
///
/// Every decision has one pinned resident; now and then a resident is erased without having been a victim.
template <cache::EvictionPolicy Policy, class Model>
void check_same_victims(Policy policy, Model model, KeySpace space, std::size_t slots, std::uint32_t seed, int steps) {
  std::vector<ExpertKey> resident;
  resident.reserve(slots);
  std::mt19937 random(seed);
  std::uint64_t allocated = 0;  // by the policy

  const auto is_resident = [&](ExpertKey k) { return std::ranges::find(resident, k) != resident.end(); };
  const auto tell = [&](auto&& event) {
    const auto before = allocations.load();
    event(policy);
    allocated += allocations.load() - before;
    event(model);
  };
  const auto erase = [&](ExpertKey key) {
    tell([key](auto& p) { p.on_erase(key); });
    std::erase(resident, key);
  };

  for (int step = 0; step < steps; ++step) {
    // The smaller of two draws: some keys are more popular than others.
    const auto draw = std::min(random() % space.size(), random() % space.size());
    const auto key = ExpertKey{static_cast<std::uint32_t>(draw)};
    if (is_resident(key)) {
      tell([key](auto& p) { p.on_hit(key); });
      continue;
    }
    if (!resident.empty() && random() % 64 == 0) erase(resident[random() % resident.size()]);
    if (resident.size() == slots) {
      const auto pinned = resident[random() % resident.size()];
      const auto evictable = [pinned](ExpertKey k) { return k != pinned; };
      const auto before = allocations.load();
      const auto victim = policy.victim(evictable);
      allocated += allocations.load() - before;
      REQUIRE(victim.has_value());                           // law 2
      REQUIRE((is_resident(*victim) && *victim != pinned));  // law 1
      REQUIRE(model.victim(evictable) == victim);            // law 3, or the model's idea
      erase(*victim);
    }
    tell([key](auto& p) { p.on_insert(key); });
    resident.push_back(key);
  }
  CHECK_FALSE(policy.victim([](ExpertKey) { return false; }).has_value());  // law 1, when nothing may leave
  REQUIRE(allocated == 0);                                                  // law 4
}

/// The laws alone: the policy beside its twin.
template <cache::EvictionPolicy Policy>
void check_eviction_laws(std::uint32_t seed, int steps) {
  constexpr KeySpace space{.layers = 3, .experts = 5};
  check_same_victims(Policy(space), Policy(space), space, 6, seed, steps);
}

}  // namespace lazymoe::test
