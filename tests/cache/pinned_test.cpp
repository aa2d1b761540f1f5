#include <lazymoe/cache/pinned.hpp>

#include <array>
#include <lazymoe/cache/layer_aware.hpp>
#include <lazymoe/cache/lru.hpp>
#include <lazymoe/cache/registry.hpp>

#include "eviction_laws.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

namespace lazymoe {

static_assert(cache::Pinned<cache::LayerAware<cache::Lru>>::name == "pinned-layer-lru");

TEMPLATE_LIST_TEST_CASE("Pinned obeys the laws of the policy it decorates, whatever is pinned", "[cache][pinned]",
                        test::TypeList<cache::evictions>) {
  constexpr KeySpace space{.layers = 3, .experts = 5};
  const auto seed = GENERATE(range(0U, 5U));
  const std::size_t n_pinned = GENERATE(0U, 4U, 12U);
  CAPTURE(seed, n_pinned);
  std::vector<ExpertKey> keys;
  for (std::size_t i = 0; i < n_pinned; ++i) keys.push_back(ExpertKey{static_cast<std::uint32_t>(i)});
  const cache::Pinned<TestType> policy(space, TestType(space), keys);
  test::check_same_victims(policy, policy, space, 6, seed, 2000);
}

TEST_CASE("Pinned spares its keys while others can leave", "[cache][pinned]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  const auto any = [](ExpertKey) { return true; };
  const std::array pins{space.key(0, 0), space.key(0, 1), space.key(0, 0)};
  cache::Pinned<cache::Lru> policy(space, cache::Lru(space), pins);
  for (std::uint32_t e = 0; e < 3; ++e) policy.on_insert(space.key(0, e));

  CHECK(policy.victim(any) == space.key(0, 2));
  CHECK(policy.victim([&](ExpertKey k) { return k != space.key(0, 2); }) == space.key(0, 0));
  policy.on_erase(space.key(0, 2));
  CHECK(policy.victim(any) == space.key(0, 0));
}

}  // namespace lazymoe
