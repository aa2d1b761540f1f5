#include <lazymoe/store/detail/resident_set.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <lazymoe/cache/lru.hpp>
#include <lazymoe/cache/registry.hpp>

#include "store/source_laws.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

namespace lazymoe::store::detail {
namespace {

using Kind = Claim::Kind;

/// The rules of a resident set as one would write them on a blackboard: experts in a map, no slots. Its own instance
/// of the policy ranks the victims, told of what happens here.
template <cache::EvictionPolicy Eviction>
class NaiveSet {
 public:
  NaiveSet(KeySpace space, std::size_t n_slots) : policy_(space), n_slots_(n_slots) {}

  struct Resident {
    int leases = 0;
    bool reading = true;
    bool failed = false;
  };
  struct Outcome {
    ExpertKey key;
    Kind kind;
    std::optional<ExpertKey> evicted;
  };

  std::optional<std::vector<Outcome>> claim(const std::vector<ExpertKey>& asked) {
    const auto missing = static_cast<std::size_t>(
        std::ranges::count_if(asked, [&](ExpertKey key) { return !residents_.contains(key); }));
    std::size_t pinned = failed_leases_.size();
    std::size_t abandoned = 0;
    for (const auto& [key, r] : residents_) {
      const bool wanted = std::ranges::find(asked, key) != asked.end();
      if (r.leases > 0 || r.reading || wanted) ++pinned;
      if (r.leases == 0 && r.reading) ++abandoned;
    }
    if (pinned + missing > n_slots_) return std::nullopt;
    if (occupied() + missing > n_slots_ && abandoned > 0) return std::nullopt;

    std::vector<Outcome> outcomes;
    for (const ExpertKey key : asked) {
      outcomes.push_back({key, Kind::miss, {}});
      if (!residents_.contains(key)) continue;
      outcomes.back().kind = residents_[key].reading ? Kind::joined : Kind::hit;
      ++residents_[key].leases;
      policy_.on_hit(key);
    }
    for (Outcome& outcome : outcomes) {
      if (outcome.kind != Kind::miss) continue;
      if (occupied() == n_slots_) {
        outcome.evicted =
            policy_.victim([&](ExpertKey key) { return residents_[key].leases == 0 && !residents_[key].reading; });
        REQUIRE(outcome.evicted.has_value());
        residents_.erase(*outcome.evicted);
        policy_.on_erase(*outcome.evicted);
      }
      residents_[outcome.key] = {.leases = 1};
      policy_.on_insert(outcome.key);
    }
    return outcomes;
  }

  void arrive(ExpertKey key, SlotIndex slot, bool success) {
    if (success) {
      residents_[key].reading = false;
      return;
    }
    if (residents_[key].leases > 0) failed_leases_[slot] = residents_[key].leases;
    residents_.erase(key);
    policy_.on_erase(key);
  }

  void unpin(ExpertKey key, SlotIndex slot) {
    if (const auto failed = failed_leases_.find(slot); failed != failed_leases_.end()) {
      if (--failed->second == 0) failed_leases_.erase(failed);
    } else {
      --residents_[key].leases;
    }
  }

  [[nodiscard]] bool resident(ExpertKey key) const { return residents_.contains(key); }
  [[nodiscard]] bool failed(SlotIndex slot) const { return failed_leases_.contains(slot); }
  [[nodiscard]] bool idle() const {
    return failed_leases_.empty() &&
           std::ranges::none_of(residents_, [](const auto& r) { return r.second.leases > 0 || r.second.reading; });
  }

 private:
  [[nodiscard]] std::size_t occupied() const { return residents_.size() + failed_leases_.size(); }

  Eviction policy_;
  std::size_t n_slots_;
  std::map<ExpertKey, Resident> residents_;
  std::map<SlotIndex, int> failed_leases_;  // slots whose read failed while leases held them
};

struct Lease {
  ExpertKey key;
  SlotIndex slot;
};

/// Drives a set of two slot classes beside one naive set a class by seeded events.
template <cache::EvictionPolicy Eviction>
void check_against_naive(const experts::ExpertMap& map, std::uint64_t budget, std::uint32_t seed, int steps) {
  const KeySpace space = map.space();
  const SlotPlan plan(map, ExpertBudget::experts(budget));
  ResidentSet<Eviction> set(map, plan);
  std::vector<NaiveSet<Eviction>> naive;
  for (const SlotClass& c : plan.classes()) naive.emplace_back(space, c.n_slots);
  const auto naive_of = [&](ExpertKey key) -> auto& { return naive[plan.class_of(space.layer(key))]; };

  std::mt19937 random(seed);
  std::vector<Lease> reads;
  std::vector<std::vector<Lease>> held;
  std::vector<Claim> claims;
  for (int step = 0; step < steps; ++step) {
    const auto event = random() % 8;
    if (event < 4) {
      const auto layer = static_cast<LayerIndex>(random() % space.layers);
      const std::size_t most = std::min<std::size_t>({3, set.n_slots(layer), space.experts});
      const auto asked = test::random_experts(random, space.experts, 1 + random() % most);
      std::vector<ExpertKey> keys;
      for (const ExpertIndex e : asked) keys.push_back(space.key(layer, e));
      const auto expected = naive_of(keys.front()).claim(keys);
      REQUIRE(set.claim(layer, asked, Use::step, claims) == expected.has_value());
      if (!expected) continue;
      REQUIRE(claims.size() == expected->size());
      auto& leases = held.emplace_back();
      for (std::size_t i = 0; i < claims.size(); ++i) {
        REQUIRE(claims[i].key == (*expected)[i].key);
        REQUIRE(claims[i].kind == (*expected)[i].kind);
        REQUIRE(claims[i].evicted == (*expected)[i].evicted);
        REQUIRE(set.key(claims[i].slot) == claims[i].key);
        leases.push_back({claims[i].key, claims[i].slot});
        if (claims[i].kind == Kind::miss) reads.push_back(leases.back());
      }
    } else if (event < 6 && !reads.empty()) {
      const auto which = static_cast<std::ptrdiff_t>(random() % reads.size());
      const Lease read = reads[static_cast<std::size_t>(which)];
      const bool success = random() % 4 != 0;
      REQUIRE(set.state(read.slot) == SlotState::loading);
      set.arrive(read.slot, success);
      naive_of(read.key).arrive(read.key, read.slot, success);
      reads.erase(reads.begin() + which);
    } else if (!held.empty()) {
      const auto which = static_cast<std::ptrdiff_t>(random() % held.size());
      for (const Lease& lease : held[static_cast<std::size_t>(which)]) {
        set.unpin(lease.slot);
        naive_of(lease.key).unpin(lease.key, lease.slot);
      }
      held.erase(held.begin() + which);
    }

    REQUIRE(set.idle() == std::ranges::all_of(naive, [](const auto& n) { return n.idle(); }));
    bool same_residents = true;
    for (std::uint32_t k = 0; k < space.size(); ++k) {
      same_residents &= set.resident(ExpertKey{k}) == naive_of(ExpertKey{k}).resident(ExpertKey{k});
    }
    REQUIRE(same_residents);
    // One slot, one expert: what is leased lies where it was.
    bool leases_hold = true;
    for (const auto& leases : held) {
      for (const Lease& lease : leases) {
        leases_hold &= set.key(lease.slot) == lease.key;
        leases_hold &= (set.state(lease.slot) == SlotState::failed) == naive_of(lease.key).failed(lease.slot);
      }
    }
    REQUIRE(leases_hold);
  }
}

/// One layer whose experts fit into `n_slots`.
struct OneLayer {
  explicit OneLayer(std::uint64_t n_slots)
      : model({.n_layers = 1, .n_used = 1}), set(model.map, SlotPlan(model.map, ExpertBudget::experts(n_slots))) {}

  /// @returns whether there was room
  bool claim(const std::vector<ExpertIndex>& experts) { return set.claim(0, experts, Use::step, claims); }
  /// Claims, reads and releases.
  void use(const std::vector<ExpertIndex>& experts) {
    REQUIRE(claim(experts));
    for (const Claim& c : claims) {
      if (c.kind == Kind::miss) set.arrive(c.slot, true);
      set.unpin(c.slot);
    }
  }
  [[nodiscard]] bool resident(ExpertIndex e) const { return set.resident(model.map.space().key(0, e)); }

  test::ModelFixture model;
  ResidentSet<cache::Lru> set;
  std::vector<Claim> claims;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A resident set does as a naive one does", "[store][resident_set]",
                        test::TypeList<cache::evictions>) {
  const test::ModelFixture model(
      {.n_experts = 5, .expert_type = quant::TypeId::q8_0, .first_down_type = quant::TypeId::f16});
  const auto seed = GENERATE(range(0U, 6U));
  const auto budget = GENERATE(4U, 7U, 11U, 15U);
  CAPTURE(seed, budget);
  check_against_naive<TestType>(model.map, budget, seed, 1000);
}

TEST_CASE("A call never evicts what it asks for", "[store][resident_set]") {
  OneLayer layer(2);
  layer.use({0});
  layer.use({1});
  REQUIRE(layer.claim({2, 0}));  // 0 is the older, but wanted
  CHECK(layer.claims[0].kind == Kind::miss);
  CHECK(layer.claims[0].evicted == ExpertKey{1});
  CHECK(layer.claims[1].kind == Kind::hit);
  CHECK(layer.resident(0));
}

TEST_CASE("A claim takes all it asks for or nothing", "[store][resident_set]") {
  OneLayer layer(3);
  REQUIRE(layer.claim({0, 1}));
  CHECK_FALSE(layer.claim({2, 3}));
  CHECK_FALSE(layer.claim({0, 2, 3}));
  CHECK(layer.claims.empty());
  CHECK_FALSE(layer.resident(2));
  CHECK(layer.claim({0, 1, 2}));
  CHECK(layer.claims[0].kind == Kind::joined);
}

TEST_CASE("A call may pin every slot", "[store][resident_set]") {
  OneLayer layer(3);
  layer.use({0, 1, 2});
  CHECK(layer.claim({5, 1, 4}));
  CHECK(layer.claims[0].evicted == ExpertKey{0});
  CHECK(layer.claims[2].evicted == ExpertKey{2});
  CHECK_FALSE(layer.claim({0}));
  CHECK(layer.claim({1}));
}

TEST_CASE("A read that outlives its lease keeps its slot", "[store][resident_set]") {
  OneLayer layer(1);
  REQUIRE(layer.claim({0}));
  const SlotIndex slot = layer.claims[0].slot;
  layer.set.unpin(slot);
  CHECK_FALSE(layer.set.idle());
  CHECK_FALSE(layer.claim({1}));
  CHECK(layer.resident(0));

  SECTION("until it arrives") {
    layer.set.arrive(slot, true);
    CHECK(layer.set.idle());
    CHECK(layer.claim({1}));
    CHECK(layer.claims[0].evicted == ExpertKey{0});
  }
  SECTION("until it fails") {
    layer.set.arrive(slot, false);
    CHECK(layer.set.idle());
    CHECK(layer.claim({1}));
    CHECK_FALSE(layer.claims[0].evicted.has_value());
  }
  SECTION("and whoever wants the expert again joins it") {
    CHECK(layer.claim({0}));
    CHECK(layer.claims[0].kind == Kind::joined);
    CHECK(layer.claims[0].slot == slot);
  }
}

TEST_CASE("Who leaves does not depend on whether an abandoned read is over", "[store][resident_set]") {
  OneLayer layer(2);
  REQUIRE(layer.claim({0}));
  const SlotIndex slot = layer.claims[0].slot;
  layer.set.unpin(slot);
  layer.use({1});
  CHECK_FALSE(layer.claim({2}));  // 1 could leave at once, but 0 is the older
  layer.set.arrive(slot, true);
  CHECK(layer.claim({2}));
  CHECK(layer.claims[0].evicted == ExpertKey{0});
}

TEST_CASE("A failed read frees its slot when nobody holds it, and the next call reads again", "[store][resident_set]") {
  OneLayer layer(2);
  REQUIRE(layer.claim({0}));
  const SlotIndex failed = layer.claims[0].slot;
  REQUIRE(layer.claim({0}));
  CHECK(layer.claims[0].kind == Kind::joined);
  layer.set.arrive(failed, false);
  CHECK_FALSE(layer.resident(0));
  CHECK(layer.set.state(failed) == SlotState::failed);

  REQUIRE(layer.claim({0}));
  CHECK(layer.claims[0].kind == Kind::miss);
  const SlotIndex retry = layer.claims[0].slot;
  CHECK(retry != failed);
  layer.set.arrive(retry, true);
  layer.set.unpin(retry);

  layer.set.unpin(failed);
  CHECK_FALSE(layer.set.idle());
  layer.set.unpin(failed);
  CHECK(layer.set.idle());
  CHECK(layer.set.state(failed) == SlotState::free);
  CHECK(layer.claim({1}));
  CHECK(layer.claims[0].slot == failed);
}

TEST_CASE("A prefetched expert is pinned by its read alone, and its first request says so", "[store][resident_set]") {
  OneLayer layer(4);
  const auto guess = layer.set.claim_prefetch(0, 5, 0);
  REQUIRE(guess);
  CHECK(layer.resident(5));
  CHECK_FALSE(layer.set.claim_prefetch(0, 5, 0).has_value());
  SECTION("when it is there") {
    layer.set.arrive(guess->slot, true);
    CHECK(layer.set.idle());
    layer.use({5});
    CHECK(layer.claims[0].kind == Kind::prefetched);
  }
  SECTION("when it is on its way") {
    REQUIRE(layer.claim({5}));
    CHECK(layer.claims[0].kind == Kind::prefetched_late);
    layer.set.arrive(guess->slot, true);
    layer.set.unpin(guess->slot);
  }
  SECTION("unless it fails") {
    layer.set.arrive(guess->slot, false);
    CHECK_FALSE(layer.resident(5));
    layer.use({5});
    CHECK(layer.claims[0].kind == Kind::miss);
  }
  layer.use({5});
  CHECK(layer.claims[0].kind == Kind::hit);
  CHECK(layer.set.idle());
}

TEST_CASE("A prefetch that nobody asked for is known when it leaves", "[store][resident_set]") {
  OneLayer layer(2);
  const auto guess = layer.set.claim_prefetch(0, 5, 0);
  REQUIRE(guess);
  layer.set.arrive(guess->slot, true);
  layer.use({0, 1});
  CHECK(layer.claims[1].evicted == ExpertKey{5});
  CHECK(layer.claims[1].evicted_unused);
}

TEST_CASE("A read on a guess keeps no request from choosing a victim", "[store][resident_set]") {
  OneLayer layer(4);
  layer.use({0, 1, 2});
  REQUIRE(layer.set.claim_prefetch(0, 7, 0));
  REQUIRE(layer.claim({3}));  // where an abandoned read would have had to end first
  CHECK(layer.claims[0].evicted == ExpertKey{0});
}

TEST_CASE("A prefetch takes no expert of the layers before its own down to the present one, nor the last half of slots",
          "[store][resident_set]") {
  const test::ModelFixture model({.n_layers = 4, .n_used = 1});
  const KeySpace space = model.map.space();
  ResidentSet<cache::Lru> set(model.map, SlotPlan(model.map, ExpertBudget::experts(4)));
  std::vector<Claim> claims;
  const auto use = [&](LayerIndex l, ExpertIndex e) {
    REQUIRE(set.claim(l, std::vector{e}, Use::step, claims));
    if (claims[0].kind == Kind::miss) set.arrive(claims[0].slot, true);
    set.unpin(claims[0].slot);
  };
  for (const LayerIndex l : {2U, 1U, 0U, 3U}) use(l, 0);
  // The token is at layer 1 and guesses layer 2: 1 and 2 stay, though older than 0.
  const auto guess = set.claim_prefetch(2, 5, 1);
  REQUIRE(guess);
  CHECK(guess->evicted == space.key(0, 0));
  CHECK_FALSE(set.claim_prefetch(2, 6, 3).has_value());
  // Half of the slots are pinned then.
  const auto other = set.claim_prefetch(2, 6, 1);
  REQUIRE(other);
  CHECK_FALSE(set.claim_prefetch(2, 7, 1).has_value());
  // And have guesses when their reads are over: a third takes the place of one that is not needed soon, or none.
  set.arrive(guess->slot, true);
  set.arrive(other->slot, true);
  CHECK_FALSE(set.claim_prefetch(2, 7, 1).has_value());
  const auto third = set.claim_prefetch(0, 7, 1);
  REQUIRE(third);
  CHECK(third->evicted == space.key(2, 5));
  CHECK(third->evicted_unused);
  // A guess that was asked for is none any more.
  set.arrive(third->slot, true);
  use(2, 6);
  const auto fourth = set.claim_prefetch(0, 6, 0);
  REQUIRE(fourth);
  CHECK_FALSE(fourth->evicted_unused);
}

namespace {

struct Refusing : cache::Lru {
  using cache::Lru::Lru;
  [[nodiscard]] bool admit(ExpertKey guess, ExpertKey) const noexcept { return index(guess) != 0; }
};
static_assert(cache::AdmittingPolicy<Refusing>);

}  // namespace

TEST_CASE("A policy may refuse a guess the place of its victim, but no request", "[store][resident_set]") {
  const test::ModelFixture model({.n_layers = 2, .n_used = 1});
  ResidentSet<Refusing> set(model.map, SlotPlan(model.map, ExpertBudget::experts(2)));
  std::vector<Claim> claims;
  for (const ExpertIndex e : {1U, 2U}) {
    REQUIRE(set.claim(1, std::vector{e}, Use::step, claims));
    set.arrive(claims[0].slot, true);
    set.unpin(claims[0].slot);
  }
  CHECK_FALSE(set.claim_prefetch(0, 0, 0).has_value());
  CHECK(set.claim_prefetch(0, 1, 0).has_value());
  CHECK(set.claim(0, std::vector<ExpertIndex>{0}, Use::step, claims));
}

TEST_CASE("A prompt takes the slots of what prompts brought before those of what steps use", "[store][resident_set]") {
  const test::ModelFixture model({.n_layers = 1, .n_used = 1});
  ResidentSet<cache::Lru> set(model.map, SlotPlan(model.map, ExpertBudget::experts(4)));
  std::vector<Claim> claims;
  const auto use = [&](ExpertIndex e, Use how) {
    REQUIRE(set.claim(0, std::vector{e}, how, claims));
    if (claims[0].kind == Kind::miss) set.arrive(claims[0].slot, true);
    set.unpin(claims[0].slot);
    return claims[0].evicted;
  };
  use(0, Use::step);
  use(1, Use::step);
  use(2, Use::step);
  use(3, Use::prompt);
  CHECK(use(4, Use::prompt) == ExpertKey{3});
  CHECK(use(5, Use::prompt) == ExpertKey{4});
  for (ExpertIndex e = 0; e < 3; ++e) CHECK(set.resident(ExpertKey{e}));
  use(5, Use::step);  // a step's from now on
  CHECK(use(6, Use::prompt) == ExpertKey{0});
}

TEST_CASE("Retired slots are free ones first, then victims, and never pinned ones", "[store][resident_set]") {
  OneLayer layer(4);
  layer.use({0, 1});
  REQUIRE(layer.claim({0}));
  std::vector<std::optional<ExpertKey>> evicted;
  const auto note = [&](SlotIndex, const auto& key) { evicted.push_back(key); };
  CHECK(layer.set.retire(0, 9, note) == 3);
  CHECK(evicted == std::vector<std::optional<ExpertKey>>{{}, {}, ExpertKey{1}});
  CHECK(layer.set.n_slots(0) == 1);
  CHECK_FALSE(layer.claim({2}));
  layer.set.unpin(SlotIndex{0});
  CHECK(layer.claim({2}));
  CHECK(layer.claims[0].evicted == ExpertKey{0});
}

TEST_CASE("Layers of different sizes do not compete for slots", "[store][resident_set]") {
  const test::ModelFixture model({.n_used = 1, .first_down_type = quant::TypeId::f16});
  const SlotPlan plan(model.map, ExpertBudget::experts(2));
  ResidentSet<cache::Lru> set(model.map, plan);
  std::vector<Claim> claims;
  const std::vector<ExpertIndex> one{3};
  CHECK(set.n_slots(0) == 1);
  CHECK(set.n_slots(1) == 1);
  CHECK(set.claim(0, one, Use::step, claims));
  CHECK(set.claim(1, one, Use::step, claims));
  CHECK_FALSE(set.claim(2, one, Use::step, claims));
}

}  // namespace lazymoe::store::detail
