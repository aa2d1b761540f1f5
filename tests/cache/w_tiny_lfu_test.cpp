#include <lazymoe/cache/w_tiny_lfu.hpp>

#include <algorithm>
#include <list>
#include <map>

#include "eviction_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {
namespace {

/// W-TinyLFU as one would write it on a blackboard: three lists, oldest first, and a count for each key.
struct ListsModel {
  std::size_t window_percent;
  std::size_t uses_in_window;  ///< of ageing
  std::list<ExpertKey> window = {}, probation = {}, guarded = {};
  std::map<ExpertKey, unsigned> uses = {};
  std::size_t n_uses = 0;

  void use(ExpertKey key) {
    ++uses[key];
    if (++n_uses % uses_in_window != 0) return;
    for (auto& [k, n] : uses) n /= 2;
  }
  void on_insert(ExpertKey key) {
    use(key);
    window.push_back(key);
  }
  void on_hit(ExpertKey key) {
    use(key);
    if (std::erase(window, key) != 0) return window.push_back(key);
    on_erase(key);
    guarded.push_back(key);
    while (guarded.size() > (probation.size() + guarded.size()) * 80 / 100) {
      probation.splice(probation.end(), guarded, guarded.begin());
    }
  }
  void on_erase(ExpertKey key) {
    for (auto* list : {&window, &probation, &guarded}) list->remove(key);
  }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) {
    const auto residents = window.size() + probation.size() + guarded.size();
    const auto room = std::max<std::size_t>(residents * window_percent / 100, 1);
    while (window.size() > room) probation.splice(probation.end(), window, window.begin());
    std::list<ExpertKey> main = probation;
    main.insert(main.end(), guarded.begin(), guarded.end());
    const auto old = std::ranges::find_if(main, evictable);
    const auto young = std::ranges::find_if(window, evictable);
    const bool any_old = old != main.end();
    const bool any_young = young != window.end();
    if (!any_old && !any_young) return std::nullopt;
    if (!any_old) return *young;
    if (!any_young || window.size() < room) return *old;
    if (uses[*young] <= uses[*old]) return *young;
    probation.splice(probation.end(), window, young);
    return *old;
  }
};

}  // namespace

TEST_CASE("WTinyLfu obeys the laws of an eviction policy", "[cache][w_tiny_lfu]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::WTinyLfu>(seed, 2000);
}

TEST_CASE("WTinyLfu chooses as three lists and a search of counts do", "[cache][w_tiny_lfu]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  const unsigned percent = GENERATE(0U, 1U, 25U, 100U);
  CAPTURE(seed, percent);
  test::check_same_victims(cache::WTinyLfu(space, percent), ListsModel{percent, 8 * space.size()}, space, 10, seed,
                           2000);
}

TEST_CASE("WTinyLfu lets a newcomer displace only who was used less", "[cache][w_tiny_lfu]") {
  constexpr KeySpace space{.layers = 1, .experts = 4};
  const auto any = [](ExpertKey) { return true; };
  cache::WTinyLfu policy(space);
  for (std::uint32_t e = 0; e < 3; ++e) policy.on_insert(space.key(0, e));  // the window holds 1 of 3

  CHECK(policy.victim(any) == space.key(0, 2));
  policy.on_hit(space.key(0, 2));
  CHECK(policy.victim(any) == space.key(0, 0));

  SECTION("a pinned expert is passed over") {
    CHECK(policy.victim([&](ExpertKey k) { return k != space.key(0, 0); }) == space.key(0, 1));
  }
  SECTION("ghosts are counted") {
    policy.on_erase(space.key(0, 0));
    policy.on_insert(space.key(0, 0));  // 2 uses, against 1 of expert 1
    CHECK(policy.victim(any) == space.key(0, 1));
  }
}

}  // namespace lazymoe
