#include <lazymoe/trace/replay.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include <lazymoe/cache/lru.hpp>
#include <lazymoe/cache/registry.hpp>

#include "support/catch.hpp"
#include "support/type_list.hpp"

namespace lazymoe::trace {
namespace {

/// `tokens` passes over the layers, some experts more popular than others.
RoutingTrace random_trace(KeySpace space, std::size_t n_used, int tokens, std::uint32_t seed) {
  RoutingTrace trace(space);
  std::mt19937 random(seed);
  for (int token = 0; token < tokens; ++token) {
    for (LayerIndex layer = 0; layer < space.layers; ++layer) {
      std::vector<ExpertIndex> experts;
      while (experts.size() < n_used) {
        const auto expert = static_cast<ExpertIndex>(std::min(random() % space.experts, random() % space.experts));
        if (std::ranges::find(experts, expert) == experts.end()) experts.push_back(expert);
      }
      trace.add_step(layer, experts);
    }
  }
  return trace;
}

/// The most hits of all that any choice of victims gives, by trying every choice.
std::uint64_t most_hits(const RoutingTrace& trace, std::size_t n_slots) {
  std::map<std::pair<std::size_t, std::set<ExpertKey>>, std::uint64_t> known;
  const std::function<std::uint64_t(std::size_t, const std::set<ExpertKey>&)> best =
      [&](std::size_t step, const std::set<ExpertKey>& before) -> std::uint64_t {
    if (step == trace.n_steps()) return 0;
    if (const auto found = known.find({step, before}); found != known.end()) return found->second;
    std::set<ExpertKey> now = before;
    std::uint64_t hits = 0;
    for (const ExpertKey key : trace.step(step)) hits += now.insert(key).second ? 0 : 1;
    // Every way to let the surplus go.
    std::uint64_t most = 0;
    const std::function<void(std::set<ExpertKey>)> evict = [&](std::set<ExpertKey> held) {
      if (held.size() <= n_slots) {
        most = std::max(most, best(step + 1, held));
        return;
      }
      for (const ExpertKey key : std::set(held)) {
        if (std::ranges::find(trace.step(step), key) != trace.step(step).end()) continue;
        std::set<ExpertKey> fewer = held;
        fewer.erase(key);
        evict(std::move(fewer));
      }
    };
    evict(now);
    return known[{step, before}] = hits + most;
  };
  return best(0, {});
}

}  // namespace

TEST_CASE("A replay counts by hand what LRU does", "[trace]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  RoutingTrace trace(space);
  trace.add_step(0, std::array{0U, 1U});
  trace.add_step(0, std::array{2U, 0U});  // 0 hits and is pinned: 1 goes
  trace.add_step(0, std::array{1U});      // 0 was used before 2
  trace.add_step(0, std::array{2U});
  const ReplayReport report = replay<cache::Lru>(trace, 2);
  CHECK(report.requests == 6);
  CHECK(report.hits == 2);
  CHECK(report.hit_rate() == Approx(2.0 / 6));
  CHECK(ReplayReport{}.hit_rate() == 0);
  const auto uses = count_uses(trace);  // by number: g++ 12 makes 2, 2, 2, 2 of a list of these for AVX-512
  REQUIRE(uses.size() == 4);
  for (std::size_t e = 0; e < 3; ++e) CHECK(uses[e] == 2);
  CHECK(uses[3] == 0);
}

TEMPLATE_LIST_TEST_CASE("No policy hits more often than Belady, and all hit always when everything fits", "[trace]",
                        test::TypeList<cache::evictions>) {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 3U));
  const RoutingTrace trace = random_trace(space, 3, 100, seed);
  for (const std::size_t n_slots : {3U, 8U, 16U, 31U}) {
    CHECK(replay<TestType>(trace, n_slots).hits <= replay_belady(trace, n_slots).hits);
  }
  const std::uint64_t once = std::set<ExpertKey>(trace.keys().begin(), trace.keys().end()).size();
  CHECK(replay<TestType>(trace, space.size()).hits == trace.keys().size() - once);
}

TEST_CASE("Belady hits as often as the best of all choices", "[trace]") {
  constexpr KeySpace space{.layers = 2, .experts = 4};
  const auto seed = GENERATE(range(0U, 10U));
  const std::size_t n_slots = GENERATE(2U, 3U, 5U);
  const RoutingTrace trace = random_trace(space, 2, 5, seed);
  CHECK(replay_belady(trace, n_slots).hits == most_hits(trace, n_slots));
}

}  // namespace lazymoe::trace
