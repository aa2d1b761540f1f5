#include <lazymoe/store/detail/guesses.hpp>

#include <vector>

#include <lazymoe/cache/lru.hpp>

#include "store/model_fixture.hpp"
#include "support/catch.hpp"

namespace lazymoe::store::detail {
namespace {

struct Guessed {
  test::ModelFixture model;
  ResidentSet<cache::Lru> resident{model.map, SlotPlan(model.map, {})};
  Ledger ledger{model.map.space().layers};
  Guesses<GateLookahead, cache::Lru> guesses{model.map, resident, GateLookahead({.depth = 2}), 3};

  std::vector<Claim> claim() {
    return guesses.claim(resident, ledger, [&](const Claim&) { ledger.begin(true); });
  }
};

}  // namespace

TEST_CASE("Only what exists and is missing is wished for, and read up to a number at once", "[store][guesses]") {
  Guessed g;
  const KeySpace space = g.model.map.space();
  g.guesses.wish(space.layers, std::vector<ExpertIndex>{0});
  CHECK(g.claim().empty());
  g.guesses.wish(1, std::vector<ExpertIndex>{4, 2});
  const auto first = g.claim();
  REQUIRE(first.size() == 2);
  CHECK(first[0].key == space.key(1, 4));
  CHECK(first[1].key == space.key(1, 2));
  g.guesses.wish(1, std::vector<ExpertIndex>{2, 5, 6});  // 2 is being read
  const auto second = g.claim();
  REQUIRE(second.size() == 1);
  CHECK(second[0].key == space.key(1, 5));
}

TEST_CASE("Wishes are dropped when their layer is run, and all at the end", "[store][guesses]") {
  Guessed g;
  g.guesses.wish(1, std::vector<ExpertIndex>{4});
  g.guesses.pass(1);
  CHECK(g.claim().empty());
  g.guesses.wish(2, std::vector<ExpertIndex>{4});
  g.guesses.clear();
  CHECK(g.claim().empty());
}

TEST_CASE("A policy looks ahead until everything is resident", "[store][guesses]") {
  Guessed g;
  std::vector<Claim> claims;
  for (LayerIndex layer = 0; layer < g.model.map.space().layers; ++layer) {
    for (ExpertIndex e = 0; e < g.model.map.space().experts; ++e) {
      CHECK(g.guesses.lookahead().depth == 2);
      REQUIRE(g.resident.claim(layer, std::vector{e}, Use::step, claims));
      g.resident.arrive(claims[0].slot, true);
      g.resident.unpin(claims[0].slot);
    }
  }
  CHECK(g.guesses.lookahead().depth == 0);
}

}  // namespace lazymoe::store::detail
