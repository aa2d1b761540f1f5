#include <lazymoe/cache/lfu_aged.hpp>

#include "count_model.hpp"
#include "eviction_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("LfuAged obeys the laws of an eviction policy", "[cache][lfu_aged]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  test::check_eviction_laws<cache::LfuAged>(seed, 2000);
}

TEST_CASE("LfuAged chooses as a search of all halved counts does", "[cache][lfu_aged]") {
  constexpr KeySpace space{.layers = 4, .experts = 8};
  const auto seed = GENERATE(range(0U, 10U));
  const std::uint64_t window = GENERATE(1U, 7U, 100U);
  CAPTURE(seed, window);
  test::check_same_victims(cache::LfuAged(space, window), test::CountModel{.window = window}, space, 10, seed, 2000);
}

TEST_CASE("LfuAged lets a former favourite go", "[cache][lfu_aged]") {
  constexpr KeySpace space{.layers = 1, .experts = 2};
  const auto any = [](ExpertKey) { return true; };
  const auto old = space.key(0, 0);
  const auto now = space.key(0, 1);

  cache::LfuAged lfu(space, 8);
  lfu.on_insert(old);
  for (int i = 0; i < 6; ++i) lfu.on_hit(old);
  lfu.on_insert(now);  // the 8th use: 7 and 1 become 3 and 0
  CHECK(lfu.victim(any) == now);
  for (int i = 0; i < 3; ++i) lfu.on_hit(now);  // 3 and 3
  CHECK(lfu.victim(any) == old);
}

}  // namespace lazymoe
