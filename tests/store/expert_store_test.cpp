#include <lazymoe/store/expert_store.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <type_traits>

#include <lazymoe/cache/pinned.hpp>
#include <lazymoe/cache/registry.hpp>
#include <lazymoe/storage/registry.hpp>
#include <lazymoe/storage/throttled.hpp>

#include "failing_new.hpp"
#include "hooked_storage.hpp"
#include "source_laws.hpp"
#include "support/catch.hpp"
#include "support/deferred_storage.hpp"
#include "support/throws.hpp"
#include "support/type_list.hpp"

namespace lazymoe::store {
namespace {

using namespace std::chrono_literals;
using Experts = std::vector<ExpertIndex>;

template <class StorageType, class EvictionType = cache::Lru>
struct Choices : DefaultPolicies {
  using Storage = StorageType;
  using Eviction = EvictionType;
};

/// Every storage with one eviction policy, and every eviction policy with one storage.
template <class Storages, class Evictions>
struct Cover;
template <class... Storages, class... Evictions>
struct Cover<std::tuple<Storages...>, std::tuple<Evictions...>> {
  using Type = std::tuple<Choices<Storages>..., Choices<storage::Pread, Evictions>...>;
};
using EveryChoice = Cover<test::TypeList<storage::storages>, test::TypeList<cache::evictions>>::Type;

template <class Inner>
using HookedStore = ExpertStore<Choices<test::Hooked<Inner>>>;

template <class Inner>
HookedStore<Inner> hooked_store(const test::ModelFixture& model, std::shared_ptr<test::Hook> hook,
                                const StoreOptions& options = {}) {
  return HookedStore<Inner>(model.map, test::Hooked<Inner>(model.file.paths(), std::move(hook)), options);
}

/// Acquires, waits for all and releases.
void use(ExpertSource& source, LayerIndex layer, const Experts& experts) {
  const Leases leases = source.acquire(layer, experts, Use::step);
  for (std::size_t i = 0; i < leases.size(); ++i) (void)leases.wait(i);
}

/// A walk of `steps` requests that every run repeats.
template <class Fn>
void walk(const test::ModelFixture& model, std::uint32_t seed, int steps, Fn&& fn) {
  const KeySpace space = model.map.space();
  std::mt19937 random(seed);
  for (int i = 0; i < steps; ++i) {
    const auto layer = static_cast<LayerIndex>(random() % space.layers);
    fn(layer, test::random_experts(random, space.experts, 1 + random() % model.map.n_used()));
  }
}

instrument::LayeredCounters without_times(instrument::LayeredCounters counters) {
  counters.total.wait_ns = counters.total.busy_ns = 0;
  for (auto& layer : counters.layers) layer.wait_ns = layer.busy_ns = 0;
  return counters;
}

/// What happened whether or not a read was over: a hit and a joined read are one.
instrument::LayeredCounters without_timing(instrument::LayeredCounters counters) {
  const auto merge = [](instrument::StoreCounters& c) { c.hits += std::exchange(c.joined, 0); };
  counters = without_times(std::move(counters));
  merge(counters.total);
  for (auto& layer : counters.layers) merge(layer);
  return counters;
}

const test::TinyMoe two_sizes{.first_down_type = quant::TypeId::f16};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A store hands out the file's experts at any budget", "[store][expert_store]", EveryChoice) {
  const test::TinyMoe shape = GENERATE(test::TinyMoe{.fused_gate_up = true}, two_sizes);
  const test::ModelFixture model(shape, 7);
  typename TestType::Storage storage(model.file.paths());
  const Bytes floor = SlotPlan::floor_bytes(model.map, storage::padding(storage));
  const ExpertBudget budget = GENERATE_COPY(ExpertBudget(floor), ExpertBudget(floor + 5000), ExpertBudget::experts(11),
                                            ExpertBudget());
  auto store = make_store<TestType>(model.file, {.budget = budget, .io_threads = 2});
  test::check_source_laws(store, model);
  CHECK(store.idle());
  if (budget.unit == ExpertBudget::Unit::bytes) CHECK(store.plan().total_bytes() <= budget.amount);

  const auto counters = store.counters();
  CHECK(counters.total.misses >= counters.total.evictions);
  CHECK(counters.total.misses - counters.total.evictions <= store.plan().n_slots());
  CHECK(counters.total.reads == counters.total.misses * (shape.fused_gate_up ? 2 : 3));
  instrument::StoreCounters sum;
  for (const auto& layer : counters.layers) sum += layer;
  CHECK(sum == counters.total);
}

TEMPLATE_LIST_TEST_CASE("A cold run reads the bytes of the distinct missed slices, a second one none",
                        "[store][expert_store]", EveryChoice) {
  const test::ModelFixture model(two_sizes);
  auto store = make_store<TestType>(model.file);
  std::set<std::pair<LayerIndex, ExpertIndex>> wanted;
  std::uint64_t n_requests = 0;
  const auto pass = [&] {
    walk(model, 3, 10, [&](LayerIndex layer, const Experts& experts) {
      use(store, layer, experts);
      for (const ExpertIndex e : experts) wanted.emplace(layer, e);
      n_requests += experts.size();
    });
  };
  pass();
  std::vector<Bytes> bytes(3);
  for (const auto& [layer, e] : wanted) {
    const experts::ExpertSlices slices = model.map.slices(layer, e);
    bytes[layer] += slices.gate.bytes + slices.up.bytes + slices.down.bytes;
  }
  const auto cold = store.counters();
  CHECK(cold.total.bytes_read == bytes[0] + bytes[1] + bytes[2]);
  for (LayerIndex layer = 0; layer < 3; ++layer) CHECK(cold.layers[layer].bytes_read == bytes[layer]);
  CHECK(cold.total.misses == wanted.size());
  CHECK(cold.total.reads == 3 * wanted.size());
  CHECK(cold.total.hits == n_requests - wanted.size());
  CHECK(cold.total.joined == 0);
  CHECK(cold.total.evictions == 0);

  pass();
  const auto warm = store.counters();
  CHECK(warm.total.bytes_read == cold.total.bytes_read);
  CHECK(warm.total.misses == cold.total.misses);
  CHECK(warm.total.requests() == n_requests);
}

TEST_CASE("What is counted as read is what the storage was asked for", "[store][expert_store]") {
  const test::ModelFixture model(two_sizes);
  const auto hook = std::make_shared<test::Hook>();
  auto store = hooked_store<storage::Pread>(model, hook, {.budget = ExpertBudget::experts(7)});
  walk(model, 1, 200, [&](LayerIndex layer, const Experts& experts) { use(store, layer, experts); });
  Bytes fetched = 0;
  for (const auto& slice : hook->fetched()) fetched += slice.bytes;
  CHECK(store.counters().total.bytes_read == fetched);
  CHECK(store.counters().total.reads == hook->fetched().size());
  CHECK(store.counters().total.evictions == store.counters().total.misses - 7);
}

TEST_CASE("An expert wanted twice at once is read once", "[store][expert_store]") {
  const test::ModelFixture model;
  test::Gate gate;
  const auto hook = std::make_shared<test::Hook>([&](const auto&) { gate.pass(); });
  auto store = hooked_store<storage::Pread>(model, hook);
  const Leases first = store.acquire(1, Experts{3, 5});
  gate.await(2);
  const Leases second = store.acquire(1, Experts{5});
  std::thread third([&] { use(store, 1, {3}); });
  CHECK_FALSE(first.ready(0));
  CHECK_FALSE(second.ready(0));
  while (store.counters().total.joined < 2) std::this_thread::sleep_for(1ms);
  gate.open();
  third.join();
  CHECK(model.is_expert(second.wait(0), 1, 5));
  CHECK(model.is_expert(first.wait(0), 1, 3));
  CHECK(hook->fetched().size() == 2 * 3);
  const auto counted = store.counters().total;
  CHECK(counted.misses == 2);
  CHECK(counted.joined == 2);
  CHECK(counted.hits == 0);
}

TEST_CASE("All reads of a call are under way at once", "[store][expert_store]") {
  const test::ModelFixture model({.n_used = 4});
  test::Gate gate;
  auto store = hooked_store<storage::Pread>(
      model, std::make_shared<test::Hook>([&](const auto&) { gate.pass(); }), {.io_threads = 4});
  const Leases leases = store.acquire(0, Experts{0, 1, 2, 3});
  gate.await(4);
  gate.open();
  CHECK(test::n_wrong(model, 0, {0, 1, 2, 3}, leases) == 0);
}

TEST_CASE("Time spent waiting is counted for the layer that waited", "[store][expert_store]") {
  const test::ModelFixture model;
  auto store = hooked_store<storage::Pread>(
      model, std::make_shared<test::Hook>([](const auto&) { std::this_thread::sleep_for(5ms); }));
  use(store, 2, {1});
  const auto counted = store.counters();
  CHECK(counted.total.wait_ns > 5'000'000);
  CHECK(counted.layers[2].wait_ns == counted.total.wait_ns);
}

TEMPLATE_TEST_CASE("A failed read fails its own lease, frees its slot and is tried again", "[store][expert_store]",
                   storage::Memory, storage::Mmap, storage::Pread) {
  const test::ModelFixture model;
  std::atomic<bool> broken{true};
  const experts::SliceRef bad = model.map.slices(1, 4).up;
  const auto hook = std::make_shared<test::Hook>([&](const experts::SliceRef& slice) {
    if (broken && slice == bad) throw Error(Errc::io, "model: the disk is on fire");
  });
  auto store = hooked_store<TestType>(model, hook, {.budget = ExpertBudget::experts(3)});
  for (int i = 0; i < 10; ++i) {
    const Leases leases = store.acquire(1, Experts{2, 4, 7});
    CHECK(model.is_expert(leases.wait(0), 1, 2));
    for (int again = 0; again < 2; ++again) {
      const Error error = test::error_of([&] { (void)leases.wait(1); });
      CHECK(error.code() == Errc::io);
      CHECK(test::mentions(error, "the disk is on fire"));
    }
    CHECK(leases.ready(1));
    CHECK(model.is_expert(leases.wait(2), 1, 7));
    CHECK_FALSE(store.resident(1, 4));
  }
  CHECK(store.idle());
  CHECK(store.counters().total.misses == 2 + 10);
  const experts::LayerExperts& l = model.map.layer(1);
  CHECK(store.counters().total.bytes_read == 2 * l.bytes() + 10 * (l.gate.bytes() + l.down.bytes()));

  broken = false;
  use(store, 1, {4});
  CHECK(store.resident(1, 4));
  const Leases leases = store.acquire(1, Experts{2, 4, 7});
  CHECK(test::n_wrong(model, 1, {2, 4, 7}, leases) == 0);
  CHECK(store.counters().total.misses == 2 + 11);
  CHECK(store.counters().total.evictions == 0);
}

TEST_CASE("Everyone who joined a read that fails is told", "[store][expert_store]") {
  const test::ModelFixture model;
  test::Gate gate;
  auto store = hooked_store<storage::Pread>(model, std::make_shared<test::Hook>([&](const auto&) {
    gate.pass();
    throw Error(Errc::io, "no such luck");
  }));
  const Leases first = store.acquire(0, Experts{1});
  std::vector<std::future<Error>> others;
  for (int i = 0; i < 3; ++i) {
    others.push_back(std::async(std::launch::async, [&] { return test::error_of([&] { use(store, 0, {1}); }); }));
  }
  while (store.counters().total.joined < 3) std::this_thread::sleep_for(1ms);
  gate.open();
  for (auto& other : others) CHECK(other.get().code() == Errc::io);
  CHECK_THROWS_AS((void)first.wait(0), Error);
}

TEST_CASE("A slice that is cut off gives the error of the file, and the store stays usable", "[store][expert_store]") {
  const test::ModelFixture model;
  const experts::SliceRef last = model.map.slices(2, 7).down;
  auto store = make_store<>(model.file, {.budget = ExpertBudget::experts(2)});
  std::filesystem::resize_file(model.file.paths().front(), last.offset + last.bytes - 1);
  const Error error = test::error_of([&] { use(store, 2, {6, 7}); });
  CHECK(error.code() == Errc::io);
  CHECK(test::mentions(error, model.file.paths().front().string()));
  CHECK_THROWS_AS(use(store, 2, Experts{7, 6}), Error);
  CHECK(model.is_expert(store.acquire(2, Experts{6}).wait(0), 2, 6));
  CHECK(store.idle());
}

TEST_CASE("Running out of memory in acquire leaves nothing pinned", "[store][expert_store]") {
  const test::ModelFixture model;
  auto store = make_store<>(model.file, {.budget = ExpertBudget::experts(3)});
  int n_failures = 0;
  walk(model, 8, 400, [&](LayerIndex layer, const Experts& experts) {
    test::allocations_left = n_failures % 4;
    try {
      Leases leases = store.acquire(layer, experts);
      test::allocations_left = -1;
      if (test::n_wrong(model, layer, experts, leases) != 0) FAIL("wrong bytes");
    } catch (const std::bad_alloc&) {
      test::allocations_left = -1;
      ++n_failures;
    }
    test::allocations_left = -1;
    REQUIRE(store.idle());
  });
  CHECK(n_failures > 1);
}

TEST_CASE("A read that cannot be queued is made by the one who asked", "[store][expert_store]") {
  const test::ModelFixture model;
  auto store = make_store<>(model.file, {.budget = ExpertBudget::experts(2)});
  // The queue allocates once in a while: so often that some of these calls meet it.
  for (std::uint32_t i = 0; i < 200; ++i) {
    const Experts experts{i % 8, (i + 1) % 8};
    std::optional<Leases> leases;
    test::allocations_left = 2;  // of acquire() itself
    leases.emplace(store.acquire(0, experts));
    test::allocations_left = -1;
    REQUIRE(test::n_wrong(model, 0, experts, *leases) == 0);
  }
}

TEST_CASE("A store may be destroyed while reads are under way", "[store][expert_store]") {
  const test::ModelFixture model({.n_used = 6});
  test::Gate gate;
  const auto hook = std::make_shared<test::Hook>([&](const auto&) { gate.pass(); });
  std::thread opener;
  {
    auto store = hooked_store<storage::Pread>(model, hook, {.io_threads = 2});
    (void)store.acquire(0, Experts{0, 1, 2, 3, 4, 5});
    gate.await(2);
    opener = std::thread([&] {
      std::this_thread::sleep_for(5ms);
      gate.open();
    });
  }
  opener.join();
  CHECK(hook->fetched().size() == 6 * 3);
}

TEST_CASE("Two stores in one process know nothing of each other", "[store][expert_store]") {
  const test::ModelFixture model;
  const test::ModelFixture other({.seed = 2});
  auto one = make_store<>(model.file, {.budget = ExpertBudget::experts(2)});
  auto two = make_store<>(other.file);
  const Leases held = one.acquire(0, Experts{0, 1});
  CHECK(two.idle());
  CHECK_FALSE(two.resident(0, 0));
  use(two, 0, {0, 1, 2});
  CHECK(other.is_expert(two.acquire(0, Experts{0}).wait(0), 0, 0));
  CHECK(model.is_expert(held.wait(0), 0, 0));
  CHECK_FALSE(other.is_expert(held.wait(0), 0, 0));
  CHECK(one.counters().total.requests() == 2);
  CHECK(two.counters().total.requests() == 4);
}

TEST_CASE("Whoever wants slots that others pin waits until they are released, by any thread", "[store][expert_store]") {
  const test::ModelFixture model;
  auto store = make_store<>(model.file, {.budget = ExpertBudget::experts(2)});
  REQUIRE(store.max_leases(0) == 2);
  Leases held = store.acquire(0, Experts{0, 1});
  auto waiting = std::async(std::launch::async, [&] {
    const Leases leases = store.acquire(1, Experts{4, 5});
    return test::n_wrong(model, 1, {4, 5}, leases);
  });
  CHECK(waiting.wait_for(20ms) == std::future_status::timeout);
  CHECK(store.counters().layers[1].requests() == 0);
  CHECK(model.is_expert(held.wait(1), 0, 1));
  std::thread([mine = std::move(held)] { (void)mine; }).join();
  CHECK(waiting.get() == 0);
  CHECK(store.idle());
}

TEST_CASE("A call for many slots is not overtaken by calls for few", "[store][expert_store]") {
  const test::ModelFixture model;
  auto store = make_store<>(model.file, {.budget = ExpertBudget::experts(2)});
  use(store, 0, {0, 1});
  std::optional<Leases> held = store.acquire(0, Experts{0});
  std::atomic<int> order{0};
  auto many = std::async(std::launch::async, [&] {
    const Leases leases = store.acquire(0, Experts{2, 3});
    return order++;
  });
  std::this_thread::sleep_for(20ms);
  auto few = std::async(std::launch::async, [&] {
    const Leases leases = store.acquire(0, Experts{1});  // there is room for it
    return order++;
  });
  CHECK(few.wait_for(20ms) == std::future_status::timeout);
  held.reset();
  CHECK(many.get() == 0);
  CHECK(few.get() == 1);
}

TEMPLATE_LIST_TEST_CASE("Threads that want random experts in few slots all get theirs", "[store][expert_store]",
                        test::TypeList<storage::storages>) {
  const test::ModelFixture model({.n_used = 3, .first_down_type = quant::TypeId::f16});
  auto store = make_store<Choices<TestType, cache::Sieve>>(model.file, {.budget = ExpertBudget::experts(7)});
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::uint64_t> n_requests{0};
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      walk(model, seed, 200, [&](LayerIndex layer, const Experts& experts) {
        const Leases leases = store.acquire(layer, experts);
        n_requests += experts.size();
        if (experts.size() != 2) wrong += test::n_wrong(model, layer, experts, leases);  // some never wait
      });
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(store.counters().total.requests() == n_requests);
  while (!store.idle()) std::this_thread::sleep_for(1ms);  // until the reads that nobody waited for are over
}

namespace {

template <class StorageType>
struct GuessingChoices : Choices<StorageType> {
  using Prefetch = GateLookahead;
};

}  // namespace

TEMPLATE_TEST_CASE("Where the storage has reads under way by itself, threads collect them for each other",
                   "[store][expert_store]", test::DeferredStorage, storage::Throttled<storage::Pread>) {
  const test::ModelFixture model({.n_used = 3});
  TestType storage(model.file.paths());
  if constexpr (!std::is_same_v<TestType, test::DeferredStorage>) {
    storage = TestType(storage::Pread(model.file.paths()), {.latency = std::chrono::microseconds(20)});
  }
  ExpertStore<GuessingChoices<TestType>> store(model.map, std::move(storage), {.budget = ExpertBudget::experts(7)});
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      walk(model, seed, 300, [&](LayerIndex layer, const Experts& experts) {
        {
          const Leases leases = store.acquire(layer, experts);
          if (experts.size() != 2) wrong += test::n_wrong(model, layer, experts, leases);  // some never wait
        }
        store.expect((layer + 1) % 3, experts);  // and nobody waits for the last guess
      });
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(store.counters().total.prefetched + store.counters().total.prefetched_late > 0);
  while (!store.idle()) std::this_thread::sleep_for(1ms);
}

TEMPLATE_LIST_TEST_CASE("What is evicted and counted does not depend on how long reads take", "[store][expert_store]",
                        test::TypeList<cache::evictions>) {
  const test::ModelFixture model(two_sizes);
  const auto waits = GENERATE(true, false);
  const auto run = [&](std::uint32_t seed) {
    std::atomic<std::uint32_t> n_fetches{seed * 1000};
    const auto hook = std::make_shared<test::Hook>([&, seed](const auto&) {
      if (seed == 0) return;
      std::mt19937 random(n_fetches++);
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    });
    using Store = ExpertStore<Choices<test::Hooked<storage::Pread>, TestType>>;
    Store store(model.map, test::Hooked<storage::Pread>(model.file.paths(), hook),
                {.budget = ExpertBudget::experts(9), .io_threads = 3});
    walk(model, 11, 150, [&](LayerIndex layer, const Experts& experts) {
      if (waits) {
        use(store, layer, experts);
      } else {
        (void)store.acquire(layer, experts);
      }
    });
    while (!store.idle()) std::this_thread::sleep_for(1ms);
    std::vector<bool> residents;
    for (LayerIndex layer = 0; layer < 3; ++layer) {
      for (ExpertIndex e = 0; e < 8; ++e) residents.push_back(store.resident(layer, e));
    }
    const auto counters = waits ? without_times(store.counters()) : without_timing(store.counters());
    return std::pair(counters, residents);
  };
  const auto swift = run(0);
  CHECK(swift.first.total.evictions > 50);
  CHECK(run(1) == swift);
  CHECK(run(2) == swift);
}

TEMPLATE_TEST_CASE("What is evicted is discarded, and nothing else", "[store][expert_store]", storage::Memory,
                   storage::Mmap, storage::Pread) {
  const test::ModelFixture model;
  const auto hook = std::make_shared<test::Hook>();
  auto store = hooked_store<TestType>(model, hook, {.budget = ExpertBudget::experts(2)});
  use(store, 0, {3, 1});
  use(store, 0, {1});
  CHECK(hook->discarded().empty());
  use(store, 2, {5});
  const experts::ExpertSlices gone = model.map.slices(0, 3);
  CHECK(hook->discarded() == std::vector{gone.gate, gone.up, gone.down});
  use(store, 2, {6, 7});
  CHECK(store.counters().total.evictions == 3);
  CHECK(hook->discarded().size() == 9);
}

TEST_CASE("A budget below the floor is refused before anything is read", "[store][expert_store]") {
  const test::ModelFixture model(two_sizes);
  const Bytes floor = SlotPlan::floor_bytes(model.map);
  const Error error = test::error_of([&] { (void)make_store<>(model.file, {.budget = floor - 1}); });
  CHECK(error.code() == Errc::over_budget);
  CHECK(test::mentions(error, std::to_string(floor) + " bytes"));
  CHECK(make_store<>(model.file, {.budget = floor}).plan().total_bytes() == floor);
}

TEST_CASE("All experts lie within the bytes of the plan, each at its own place", "[store][expert_store]") {
  const test::ModelFixture model(two_sizes);
  const Bytes budget = SlotPlan::floor_bytes(model.map) + 10'000;
  auto store = make_store<>(model.file, {.budget = budget});
  std::set<const std::byte*> places;
  const std::byte* end = nullptr;
  walk(model, 2, 200, [&](LayerIndex layer, const Experts& experts) {
    const Leases leases = store.acquire(layer, experts);
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const ExpertView view = leases.wait(i);
      places.insert(view.gate.bytes.data());
      end = std::max(end, view.down.bytes.data() + view.down.bytes.size(), std::less<>());
    }
  });
  CHECK(places.size() == store.plan().n_slots());
  CHECK(static_cast<Bytes>(end - *places.begin()) <= store.plan().total_bytes());
  CHECK(store.plan().total_bytes() <= budget);
}

TEST_CASE("Down may arrive while gate and up are in use", "[store][expert_store]") {
  const test::ModelFixture model;
  test::Gate gate;
  const experts::SliceRef down = model.map.slices(1, 4).down;
  auto store = hooked_store<storage::Pread>(model, std::make_shared<test::Hook>([&](const auto& slice) {
                                              if (slice == down) gate.pass();
                                            }));
  const Leases leases = store.acquire(1, Experts{4});
  gate.await(1);
  const ExpertView half = leases.wait(0, Extent::gate_up);
  CHECK(std::ranges::equal(half.up.bytes, model.bytes(model.map.slices(1, 4).up)));
  CHECK(half.down.bytes.empty());
  CHECK_FALSE(leases.ready(0));
  const std::uint64_t seen = leases.arrivals();
  gate.open();
  leases.wait_arrival(seen);
  CHECK(model.is_expert(leases.wait(0, Extent::gate_up), 1, 4));
}

TEST_CASE("A storage with a queue of its own has all reads before the first is waited for", "[store][expert_store]") {
  const test::ModelFixture model({.n_used = 6, .first_down_type = quant::TypeId::f16});
  auto store = make_store<Choices<test::DeferredStorage>>(model.file, {.budget = ExpertBudget::experts(13)});
  test::check_source_laws(store, model);
  CHECK(store.idle());
}

namespace {

struct Guessing : DefaultPolicies {
  using Storage = test::Hooked<storage::Pread>;
  using Eviction = cache::Lru;
  using Prefetch = GateLookahead;
};

}  // namespace

TEST_CASE("What is expected is read before it is asked for, and counted by what became of it", "[store][expert_store]") {
  const test::ModelFixture model({.n_layers = 4, .n_used = 1});
  ExpertStore<Guessing> store(model.map, test::Hooked<storage::Pread>(model.file.paths()),
                              {.budget = ExpertBudget::experts(4)});
  CHECK(store.lookahead().depth == 1);
  const auto expect = [&](LayerIndex layer, const Experts& experts) {
    store.expect(layer, experts);
    while (!store.idle()) std::this_thread::sleep_for(1ms);
  };
  use(store, 0, {0});
  expect(1, {3, 5});
  CHECK(store.resident(1, 3));
  CHECK(store.resident(1, 5));
  use(store, 1, {3});
  use(store, 2, {0});
  use(store, 3, {0});  // evicts the eldest, 0 of layer 0
  use(store, 0, {1});  // evicts 5 of layer 1, which nobody used
  use(store, 1, {3});
  const auto counted = store.counters().total;
  CHECK(counted.prefetched == 1);
  CHECK(counted.prefetched_unused == 1);
  CHECK(counted.misses == 4);
  CHECK(counted.hits == 1);
  CHECK(counted.requests() == 6);
  CHECK(counted.bytes_wanted == 6 * model.map.layer(0).bytes());
  CHECK(counted.bytes_read == 6 * model.map.layer(0).bytes());
  CHECK(counted.busy_ns > 0);
}

TEST_CASE("Guesses wait while somebody waits for the storage, and are dropped when their layer is run",
          "[store][expert_store]") {
  const test::ModelFixture model({.n_layers = 4, .n_used = 1});
  test::Gate gate;
  const auto hook = std::make_shared<test::Hook>([&](const auto&) { gate.pass(); });
  ExpertStore<Guessing> store(model.map, test::Hooked<storage::Pread>(model.file.paths(), hook), {});
  const Leases asked = store.acquire(0, Experts{0});
  gate.await(3);
  store.expect(1, Experts{1});
  store.expect(2, Experts{2});
  CHECK_FALSE(store.resident(1, 1));
  Leases next = store.acquire(1, Experts{4});  // not what was guessed
  CHECK_FALSE(store.resident(1, 1));
  gate.open();
  (void)asked.wait(0);
  (void)next.wait(0);
  while (!store.resident(2, 2)) std::this_thread::sleep_for(1ms);
  CHECK_FALSE(store.resident(1, 1));
  CHECK(store.resident(2, 2));
  const Leases late = store.acquire(2, Experts{2});
  CHECK(model.is_expert(late.wait(0), 2, 2));
  const auto counted = store.counters().total;
  CHECK(counted.prefetched + counted.prefetched_late == 1);
}

TEST_CASE("A request joins the prefetch that is late, and learns of its failure", "[store][expert_store]") {
  const test::ModelFixture model({.n_layers = 4, .n_used = 1});
  test::Gate gate;
  const auto broken = GENERATE(false, true);
  const auto hook = std::make_shared<test::Hook>([&](const auto&) {
    gate.pass();
    if (broken) throw Error(Errc::io, "no such luck");
  });
  ExpertStore<Guessing> store(model.map, test::Hooked<storage::Pread>(model.file.paths(), hook), {});
  store.expect(1, Experts{6});
  gate.await(3);
  {
    const Leases late = store.acquire(1, Experts{6});
    CHECK_FALSE(late.ready(0));
    gate.open();
    if (broken) {
      CHECK_THROWS_AS((void)late.wait(0), Error);
    } else {
      CHECK(model.is_expert(late.wait(0), 1, 6));
    }
  }
  CHECK(store.counters().total.prefetched_late == 1);
  CHECK(store.counters().total.misses == 0);
  CHECK(store.idle());
  CHECK(store.resident(1, 6) == !broken);
}

TEST_CASE("A prompt does not flush what steps had made hot", "[store][expert_store]") {
  const test::ModelFixture model({.n_layers = 3, .n_experts = 8, .n_used = 2});
  auto store = make_store<Choices<storage::Pread>>(model.file, {.budget = ExpertBudget::experts(12)});
  const auto steps = [&] {
    for (LayerIndex layer = 0; layer < 3; ++layer) use(store, layer, {1, 6});
    for (LayerIndex layer = 0; layer < 3; ++layer) use(store, layer, {1, 6});
  };
  steps();
  for (int batch = 0; batch < 3; ++batch) {
    for (LayerIndex layer = 0; layer < 3; ++layer) {
      for (const Experts& group : {Experts{0, 1}, {2, 3}, {4, 5}, {6, 7}}) {
        const Leases leases = store.acquire(layer, group, Use::prompt);
        for (std::size_t i = 0; i < leases.size(); ++i) (void)leases.wait(i);
      }
    }
  }
  const auto before = store.counters().total;
  steps();
  CHECK((store.counters().total - before).misses == 0);
}

TEST_CASE("A store that shrinks gives slots back, keeps what is leased, and stays small", "[store][expert_store]") {
  const test::ModelFixture model(two_sizes);
  auto store = make_store<Choices<storage::Pread>>(model.file);
  walk(model, 4, 60, [&](LayerIndex layer, const Experts& experts) { use(store, layer, experts); });
  const Bytes before = store.slot_bytes();
  CHECK(before == store.plan().total_bytes());
  const Bytes floor = SlotPlan::floor_bytes(model.map);
  CHECK_THROWS_AS(store.shrink_to(floor - 1), Error);
  CHECK(store.slot_bytes() == before);

  Leases held = store.acquire(1, Experts{0, 1});
  auto shrinking = std::async(std::launch::async, [&] { return store.shrink_to(floor); });
  CHECK(test::n_wrong(model, 1, {0, 1}, held) == 0);
  held = Leases();
  CHECK(shrinking.get() == before - floor);
  CHECK(store.slot_bytes() == floor);
  CHECK(store.shrink_to(before) == 0);
  test::check_source_laws(store, model);
  CHECK(store.slot_bytes() == floor);
  const Experts all{0, 1, 2, 3, 4, 5, 6, 7};
  {
    const Leases some = store.acquire(1, all);
    CHECK(test::n_wrong(model, 1, {0, 1}, some) == 0);
  }
  CHECK(store.idle());
}

namespace {

template <class StorageType>
struct Decoding : Choices<StorageType> {
  using Representation = DecodeTo<quant::F32>;
};

}  // namespace

TEMPLATE_TEST_CASE("Experts can be packed anew on their way into slots", "[store][expert_store]", storage::Pread,
                   storage::Mmap, storage::Direct, test::DeferredStorage) {
  const test::ModelFixture model({.fused_gate_up = GENERATE(false, true), .first_down_type = quant::TypeId::f16});
  auto store = make_store<Decoding<TestType>>(model.file, {.budget = ExpertBudget::experts(7), .io_threads = 2});
  CHECK(store.plan().classes().size() == 1);  // decoded, all layers are of one size
  std::size_t wrong = 0;
  walk(model, 4, 100, [&](LayerIndex layer, const Experts& experts) {
    const Leases leases = store.acquire(layer, experts);
    for (std::size_t i = 0; i < leases.size(); ++i) {
      const ExpertView view = leases.wait(i);
      const experts::LayerExperts& l = model.map.layer(layer);
      const experts::ExpertSlices slices = model.map.slices(layer, experts[i]);
      const auto check = [&](const quant::PackedMatrix& is, const experts::ExpertMatrix& m, const experts::SliceRef& s) {
        std::vector<float> was(is.cols);
        for (std::size_t row = 0; row < is.rows; ++row) {
          quant::decode_row(detail::as_matrix(m, model.bytes(s)), row, was);
          if (!std::ranges::equal(std::as_bytes(std::span(was)), is.row(row))) ++wrong;
        }
        if (is.type != quant::TypeId::f32) ++wrong;
      };
      check(view.gate, l.gate, slices.gate);
      check(view.up, l.up, slices.up);
      check(view.down, l.down, slices.down);
    }
  });
  CHECK(wrong == 0);
  CHECK(store.counters().total.evictions > 0);
}

TEST_CASE("A bit that flips on disk is caught, and the store serves what is whole", "[store][expert_store]") {
  const test::ModelFixture model;
  Checksums sums(model.map.space());
  auto store = make_store<Choices<storage::Pread>>(model.file, {.budget = ExpertBudget::experts(2), .checksums = &sums});
  use(store, 1, {4, 5});
  use(store, 1, {2, 3});  // evicts them
  CHECK(sums.n_known() == 4 * 3);
  const experts::SliceRef up = model.map.slices(1, 4).up;
  {
    std::fstream file(model.file.paths().front(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(up.offset + 7));
    const char c = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(up.offset + 7));
    file.put(static_cast<char>(c ^ 16));
  }
  for (int again = 0; again < 2; ++again) {
    const Error error = test::error_of([&] { use(store, 1, {4}); });
    CHECK(error.code() == Errc::io);
    CHECK(test::mentions(error, model.file.paths().front().string()));
    CHECK(test::mentions(error, "offset " + std::to_string(up.offset)));
    CHECK(test::mentions(error, "expert 4 of layer 1"));
  }
  use(store, 1, {5, 2});
  CHECK(store.idle());
}

TEST_CASE("Hits on pinned experts are counted apart", "[store][expert_store]") {
  const test::ModelFixture model;
  const std::vector<ExpertKey> hot{model.map.space().key(0, 3)};
  using Pinning = cache::Pinned<cache::Lru>;
  ExpertStore<Choices<storage::Pread, Pinning>> store(
      model.map, storage::Pread(model.file.paths()), {.budget = ExpertBudget::experts(3)},
      [&](KeySpace space) { return Pinning(space, cache::Lru(space), hot); });
  use(store, 0, {3, 4});
  use(store, 0, {3, 4});
  CHECK(store.counters().total.pinned_hits == 1);
  CHECK(store.counters().total.hits == 1);
}

TEST_CASE("A store without threads of its own still reads", "[store][expert_store]") {
  const test::ModelFixture model;
  auto store = make_store<>(model.file, {.io_threads = 0});
  CHECK(model.is_expert(store.acquire(1, Experts{2}).wait(0), 1, 2));
}

}  // namespace lazymoe::store
