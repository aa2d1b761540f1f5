#include <lazymoe/store/detail/wish_list.hpp>

#include <vector>

#include "support/catch.hpp"

namespace lazymoe::store::detail {
namespace {

using Experts = std::vector<ExpertIndex>;
constexpr auto any = [](ExpertIndex) { return true; };

std::pair<LayerIndex, ExpertIndex> next(WishList& list) {
  const auto wish = list.next();
  return wish ? std::pair(wish->layer, wish->expert) : std::pair(LayerIndex{99}, ExpertIndex{99});
}

}  // namespace

TEST_CASE("Wishes come nearest layer first, likeliest first", "[store][wish_list]") {
  WishList list({.layers = 8, .experts = 10});
  list.pass(3);
  list.set(5, Experts{7, 2}, any);
  list.set(4, Experts{1, 9, 3}, [](ExpertIndex e) { return e != 9; });
  CHECK(next(list) == std::pair(4U, 1U));
  CHECK(next(list) == std::pair(4U, 3U));
  const auto wish = list.next();
  REQUIRE(wish);
  CHECK(wish->expert == 7);
  CHECK(wish->layers_ahead == 2);
  CHECK_FALSE(list.empty());
  CHECK(next(list) == std::pair(5U, 2U));
  CHECK(list.empty());
  CHECK_FALSE(list.next().has_value());
}

TEST_CASE("A layer that is run, and layers passed, leave no wishes", "[store][wish_list]") {
  WishList list({.layers = 8, .experts = 10});
  list.set(1, Experts{1}, any);
  list.set(2, Experts{2}, any);
  list.set(3, Experts{3}, any);
  list.set(0, Experts{4}, any);  // of the next token
  list.pass(2);
  CHECK(next(list) == std::pair(3U, 3U));
  CHECK(list.empty());
}

TEST_CASE("New wishes for a layer replace the old ones, and what the model does not have is no wish", "[store][wish_list]") {
  WishList list({.layers = 2, .experts = 4});
  list.set(1, Experts{1, 2}, any);
  list.set(1, Experts{3, 4, 40}, any);
  CHECK(next(list) == std::pair(1U, 3U));
  CHECK(list.empty());
}

}  // namespace lazymoe::store::detail
