#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "../cache/belady.hpp"
#include "../cache/eviction.hpp"
#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "routing_trace.hpp"

namespace lazymoe::trace {

/// What a cache would have done.
struct ReplayReport {
  std::uint64_t requests = 0;
  std::uint64_t hits = 0;

  [[nodiscard]] double hit_rate() const noexcept {
    return requests == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(requests);
  }
};

/// Runs the requests of a trace through a cache of `n_slots` experts, as ExpertStore would decode it token by token:
/// the residents among a layer's experts are pinned before the first of the others takes a victim's place.
///
/// @pre  n_slots >= trace.widest_step(); the policy is new and of the trace's key space
/// @cost a victim for each miss; nothing is read
template <cache::EvictionEvents Eviction>
[[nodiscard]] ReplayReport replay(const RoutingTrace& trace, std::size_t n_slots, Eviction policy) {
  LAZYMOE_EXPECTS(n_slots >= trace.widest_step());
  std::vector<std::uint8_t> resident(trace.space().size());
  std::size_t n_resident = 0;
  ReplayReport report;
  std::vector<ExpertKey> misses;
  for (std::size_t i = 0; i < trace.n_steps(); ++i) {
    const std::span<const ExpertKey> step = trace.step(i);
    misses.clear();
    for (const ExpertKey key : step) {
      if (resident[index(key)] != 0) {
        policy.on_hit(key);
      } else {
        misses.push_back(key);
      }
    }
    report.requests += step.size();
    report.hits += step.size() - misses.size();
    for (const ExpertKey key : misses) {
      if (n_resident == n_slots) {
        const auto victim = policy.victim([&](ExpertKey k) { return std::ranges::find(step, k) == step.end(); });
        LAZYMOE_ENSURES(victim.has_value());
        policy.on_erase(*victim);
        resident[index(*victim)] = 0;
        --n_resident;
      }
      policy.on_insert(key);
      resident[index(key)] = 1;
      ++n_resident;
    }
  }
  return report;
}

/// The same with a policy as stores make it.
template <cache::EvictionPolicy Eviction>
[[nodiscard]] ReplayReport replay(const RoutingTrace& trace, std::size_t n_slots) {
  return replay(trace, n_slots, Eviction(trace.space()));
}

/// The most hits that any policy can have.
[[nodiscard]] inline ReplayReport replay_belady(const RoutingTrace& trace, std::size_t n_slots) {
  return replay(trace, n_slots, cache::Belady(trace.space(), trace.keys()));
}

/// How often each key is asked for: what hot_set.hpp learns from.
[[nodiscard]] inline std::vector<std::uint64_t> count_uses(const RoutingTrace& trace) {
  std::vector<std::uint64_t> uses(trace.space().size());
  for (const ExpertKey key : trace.keys()) ++uses[index(key)];
  return uses;
}

}  // namespace lazymoe::trace
