#include <lazymoe/store/detail/claim_wishes.hpp>

#include <vector>

#include <lazymoe/cache/lru.hpp>

#include "store/model_fixture.hpp"
#include "support/catch.hpp"

namespace lazymoe::store::detail {
namespace {

/// A set of eight slots and a list of wishes for layer 1, while layer 0 is run.
struct Wishing {
  Wishing()
      : model({.n_layers = 4, .n_used = 1}),
        resident(model.map, SlotPlan(model.map, ExpertBudget::experts(8))),
        ledger(4),
        wishes(model.map.space()) {
    wishes.set(1, std::vector<ExpertIndex>{6, 2, 4, 5, 7}, [](ExpertIndex) { return true; });
  }

  std::vector<ExpertIndex> claim(std::size_t most) {
    std::vector<ExpertIndex> experts;
    for (const Claim& c : claim_wishes(wishes, resident, ledger, most, [&](const Claim&) { ledger.begin(true); })) {
      experts.push_back(model.map.space().expert(c.key));
    }
    return experts;
  }

  test::ModelFixture model;
  ResidentSet<cache::Lru> resident;
  Ledger ledger;
  WishList wishes;
};

}  // namespace

TEST_CASE("As many wishes are claimed as may be read at once, the likeliest first", "[store][claim_wishes]") {
  Wishing w;
  CHECK(w.claim(2) == std::vector<ExpertIndex>{6, 2});
  CHECK(w.claim(2).empty());
  w.ledger.end(1, true);
  CHECK(w.claim(2) == std::vector<ExpertIndex>{4});
  CHECK_FALSE(w.wishes.empty());
}

TEST_CASE("No wish is claimed while a request is being read", "[store][claim_wishes]") {
  Wishing w;
  w.ledger.begin(false);
  CHECK(w.claim(2).empty());
  w.ledger.end(0, false);
  CHECK(w.claim(1) == std::vector<ExpertIndex>{6});
}

TEST_CASE("What has come meanwhile is passed over, and half of the slots stay", "[store][claim_wishes]") {
  Wishing w;
  std::vector<Claim> claims;
  REQUIRE(w.resident.claim(1, std::vector<ExpertIndex>{2}, Use::step, claims));
  CHECK(w.claim(9) == std::vector<ExpertIndex>{6, 4, 5});  // with 2, four of eight are pinned
  CHECK(w.wishes.empty());
}

}  // namespace lazymoe::store::detail
