#include <lazymoe/cache/detail/ranked_heap.hpp>

#include <algorithm>
#include <random>

#include "support/catch.hpp"

namespace lazymoe::cache::detail {

static_assert(Rank{1, 9} < Rank{2, 1} && Rank{1, 1} < Rank{1, 2});

TEST_CASE("A ranked heap finds what a search of all residents finds", "[cache]") {
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  constexpr KeySpace space{.layers = 4, .experts = 8};
  RankedHeap heap(space);
  std::vector<ExpertKey> resident;
  std::mt19937 random(seed);

  for (int step = 0; step < 1000; ++step) {
    const auto key = ExpertKey{static_cast<std::uint32_t>(random() % space.size())};
    if (std::ranges::find(resident, key) == resident.end()) {
      heap.insert(key);
      resident.push_back(key);
      heap.use(key);
    } else if (random() % 3 != 0) {
      heap.use(key);
    } else {
      heap.erase(key);
      std::erase(resident, key);
    }
    if (random() % 50 == 0) heap.halve();
    REQUIRE(heap.size() == resident.size());

    const auto modulus = 1 + random() % 4;
    const auto allowed = [modulus](ExpertKey k) { return index(k) % modulus == 0; };
    std::optional<ExpertKey> expected;
    for (const ExpertKey k : resident) {
      if (allowed(k) && (!expected || heap.rank(k) < heap.rank(*expected))) expected = k;
    }
    REQUIRE(heap.find_lowest(allowed) == expected);
  }
}

TEST_CASE("Counts survive absence and are halved with it", "[cache]") {
  RankedHeap heap(KeySpace{.layers = 1, .experts = 2});
  const ExpertKey key{1};
  for (int i = 0; i < 5; ++i) heap.use(key);
  CHECK(heap.rank(key) == Rank{.uses = 5, .last_use = 5});
  heap.halve();
  CHECK(heap.rank(key) == Rank{.uses = 2, .last_use = 5});
  CHECK(heap.size() == 0);
  heap.forget(key);
  CHECK(heap.rank(key).uses == 0);
}

}  // namespace lazymoe::cache::detail
