#include <lazymoe/cache/detail/linked_order.hpp>

#include <algorithm>
#include <list>
#include <random>

#include "support/catch.hpp"

namespace lazymoe::cache::detail {

TEST_CASE("A linked order keeps the order of a list through pushes, moves and erasures", "[cache]") {
  const auto seed = GENERATE(range(0U, 10U));
  CAPTURE(seed);
  constexpr KeySpace space{.layers = 2, .experts = 6};
  LinkedOrder order(space);
  std::list<ExpertKey> model;
  std::mt19937 random(seed);

  for (int step = 0; step < 500; ++step) {
    const auto key = ExpertKey{static_cast<std::uint32_t>(random() % space.size())};
    if (std::ranges::find(model, key) == model.end()) {
      order.push_newest(key);
      model.push_back(key);
    } else if (random() % 2 == 0) {
      order.move_to_newest(key);
      model.remove(key);
      model.push_back(key);
    } else {
      order.erase(key);
      model.remove(key);
    }
    REQUIRE(order.size() == model.size());
    REQUIRE(order.oldest() == (model.empty() ? std::nullopt : std::optional(model.front())));
    REQUIRE(order.newest() == (model.empty() ? std::nullopt : std::optional(model.back())));
    auto at = order.oldest();
    for (const ExpertKey expected : model) {
      REQUIRE(at == expected);
      at = order.newer(*at);
    }
    REQUIRE_FALSE(at.has_value());
  }
}

TEST_CASE("A linked order finds the oldest key of a kind", "[cache]") {
  LinkedOrder order(KeySpace{.layers = 1, .experts = 4});
  for (const std::uint32_t e : {3U, 1U, 2U}) order.push_newest(ExpertKey{e});
  CHECK(order.find_oldest([](ExpertKey k) { return index(k) < 3; }) == ExpertKey{1});
  CHECK_FALSE(order.find_oldest([](ExpertKey k) { return index(k) == 0; }).has_value());
}

}  // namespace lazymoe::cache::detail
