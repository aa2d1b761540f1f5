#include <lazymoe/store/detail/ledger.hpp>

#include <vector>

#include "support/catch.hpp"

namespace lazymoe::store::detail {

TEST_CASE("A request counts once for each expert, by where it was", "[store][ledger]") {
  using Kind = Claim::Kind;
  Ledger ledger(2);
  const std::vector<Claim> claims{{.key = ExpertKey{0}, .kind = Kind::hit},
                                  {.key = ExpertKey{1}, .kind = Kind::hit},
                                  {.key = ExpertKey{2}, .kind = Kind::prefetched},
                                  {.key = ExpertKey{3}, .kind = Kind::prefetched_late},
                                  {.key = ExpertKey{4}, .kind = Kind::joined},
                                  {.key = ExpertKey{5}, .kind = Kind::miss},
                                  {.key = ExpertKey{6}, .kind = Kind::miss, .evicted = ExpertKey{8}},
                                  {.key = ExpertKey{7}, .kind = Kind::miss, .evicted = ExpertKey{9}, .evicted_unused = true}};
  ledger.requested(1, claims, 100, [](ExpertKey key) { return key == ExpertKey{1}; });
  const instrument::StoreCounters expected{.hits = 1,
                                           .pinned_hits = 1,
                                           .prefetched = 1,
                                           .prefetched_late = 1,
                                           .joined = 1,
                                           .misses = 3,
                                           .prefetched_unused = 1,
                                           .evictions = 2,
                                           .bytes_wanted = 800};
  CHECK(ledger.counters().total == expected);
  CHECK(ledger.counters().layers[1] == expected);
}

TEST_CASE("What is being read is known, and for how long anything was", "[store][ledger]") {
  Ledger ledger(1);
  ledger.begin(false);
  ledger.begin(true);
  CHECK(ledger.n_asked() == 1);
  CHECK(ledger.n_guessed() == 1);
  ledger.read(0, 30);
  ledger.read(0, 0);  // failed
  CHECK(ledger.arrivals() == 0);
  ledger.arrive();
  CHECK(ledger.arrivals() == 1);
  CHECK(ledger.counters().total.reads == 1);
  CHECK(ledger.counters().total.bytes_read == 30);
  ledger.end(0, false);
  CHECK(ledger.n_asked() == 0);
  CHECK(ledger.counters().total.busy_ns == 0);  // the guess is still under way
  ledger.end(0, true);
  CHECK(ledger.n_guessed() == 0);
  CHECK(ledger.counters().total.busy_ns > 0);
}

TEST_CASE("A guess counts what it evicts, and is no request", "[store][ledger]") {
  Ledger ledger(1);
  ledger.guessed(0, {.kind = Claim::Kind::miss, .evicted = ExpertKey{1}, .evicted_unused = true});
  CHECK(ledger.counters().total == instrument::StoreCounters{.prefetched_unused = 1, .evictions = 1});
}

}  // namespace lazymoe::store::detail
