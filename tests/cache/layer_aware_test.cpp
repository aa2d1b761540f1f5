#include <lazymoe/cache/layer_aware.hpp>

#include <lazymoe/cache/lru.hpp>
#include <lazymoe/cache/registry.hpp>
#include <lazymoe/cache/sieve.hpp>

#include "eviction_laws.hpp"
#include "list_model.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

namespace lazymoe {
namespace {

/// An LRU list of which the residents of some layers are asked first.
struct LayersModel : test::ListModel {
  KeySpace space;
  std::uint32_t n_layers;
  LayerIndex layer = 0;

  void on_insert(ExpertKey key) {
    layer = space.layer(key);
    ListModel::on_insert(key);
  }
  void on_hit(ExpertKey key) {
    layer = space.layer(key);
    ListModel::on_hit(key);
  }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) {
    const auto passed = [&](ExpertKey key) {
      LayerIndex at = layer;
      for (std::uint32_t n = 0; n < n_layers; ++n, at = at == 0 ? space.layers - 1 : at - 1) {
        if (space.layer(key) == at) return evictable(key);
      }
      return false;
    };
    const auto found = ListModel::victim(passed);
    return found ? found : ListModel::victim(evictable);
  }
};

}  // namespace

static_assert(cache::LayerAware<cache::Sieve>::name == "layer-sieve");

TEMPLATE_LIST_TEST_CASE("LayerAware obeys the laws of the policy it decorates", "[cache][layer_aware]",
                        test::TypeList<cache::evictions>) {
  const auto seed = GENERATE(range(0U, 5U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::LayerAware<TestType>>(seed, 2000);
}

TEST_CASE("LayerAware chooses as a search of the layers just passed does", "[cache][layer_aware]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  const std::uint32_t n_layers = GENERATE(1U, 2U, 4U);
  CAPTURE(seed, n_layers);
  test::check_same_victims(cache::LayerAware<cache::Lru>(space, cache::Lru(space), n_layers),
                           LayersModel{{.moves_on_hit = true}, space, n_layers}, space, 10, seed, 2000);
}

TEST_CASE("LayerAware spares the layers that come next", "[cache][layer_aware]") {
  constexpr KeySpace space{.layers = 4, .experts = 2};
  const auto any = [](ExpertKey) { return true; };
  cache::LayerAware<cache::Lru> policy(space);
  for (LayerIndex layer = 0; layer < 4; ++layer) policy.on_insert(space.key(layer, 0));
  policy.on_hit(space.key(0, 0));  // of 4 layers, 0 and 3 are the half just passed; 1 and 2 come next

  CHECK(policy.victim(any) == space.key(3, 0));
  policy.on_erase(space.key(3, 0));
  CHECK(policy.victim(any) == space.key(0, 0));
  policy.on_erase(space.key(0, 0));
  CHECK(policy.victim(any) == space.key(1, 0));  // for want of others
}

}  // namespace lazymoe
