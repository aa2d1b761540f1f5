#include <lazymoe/cache/any_eviction.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <lazymoe/cache/registry.hpp>

#include "eviction_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("AnyEviction obeys the laws of an eviction policy", "[cache][any]") {
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::AnyEviction>(seed, 2000);
}

TEST_CASE("Every policy chooses behind AnyEviction as it does itself", "[cache][any]") {
  constexpr KeySpace space{.layers = 3, .experts = 6};
  for (const std::string_view name : cache::eviction_names()) {
    CAPTURE(name);
    cache::visit_eviction(name, [&](auto policy) {
      typename decltype(policy)::type plain(space);
      cache::AnyEviction any = cache::make_eviction(name, space);
      std::vector<ExpertKey> resident;
      std::uint32_t state = 7;
      for (int step = 0; step < 500; ++step) {
        state = state * 1664525U + 1013904223U;
        const ExpertKey key = space.key((state >> 8) % 3, (state >> 16) % 6);
        if (std::find(resident.begin(), resident.end(), key) != resident.end()) {
          plain.on_hit(key);
          any.on_hit(key);
          continue;
        }
        if (resident.size() == 5) {
          const auto even = [&](ExpertKey k) { return k != resident[state % 5]; };
          const auto victim = plain.victim(even);
          REQUIRE(any.victim(even) == victim);
          plain.on_erase(*victim);
          any.on_erase(*victim);
          std::erase(resident, *victim);
        }
        plain.on_insert(key);
        any.on_insert(key);
        resident.push_back(key);
      }
    });
  }
}

}  // namespace lazymoe
