// Lazy equals eager, to the bit: logits depend on the file and the tokens, and on nothing else.
#include <lazymoe/models/load.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lazymoe/cache/registry.hpp>
#include <lazymoe/storage/registry.hpp>
#ifdef LAZYMOE_TEST_URING
#include <lazymoe/storage/uring.hpp>
#endif
#include <lazymoe/store/expert_store.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/deferred_storage.hpp"

namespace lazymoe::models {
namespace {

constexpr std::size_t n_tokens = 64;

/// Golden models: every family, packed in K-quants where it has such a file; of some, experts of two sizes.
const std::vector<std::string> models{"qwen3moe/Q4_K_M", "olmoe/Q8_0",  "moonlight/Q8_0", "glm-flash/Q8_0",
                                      "qwen35moe/Q8_0",  "gpt-oss/Q8_0", "glm4moe/Q8_0",  "deepseek-v2/F32"};

/// FNV-1a, 64 bits.
std::uint64_t hash(std::span<const float> values) {
  std::uint64_t h = 0xCBF29CE484222325U;
  for (const std::byte b : std::as_bytes(values)) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3U;
  return h;
}

/// What the results may depend on.
struct Mode {
  KvType kv_type;
  Recurrence recurrence;
};

/// The second also takes the other form of the recurrence, which families without one do not mind.
constexpr Mode modes[] = {{KvType::f16, Recurrence::step}, {KvType::f32, Recurrence::chunked}};

/// Hash of the logits of all tokens.
std::uint64_t hash_of(const Model& model, std::size_t n_batch, const Mode& mode) {
  const auto tokens = test::some_tokens(n_tokens, model.config().n_vocab);
  return hash(test::all_logits(
      model, tokens, {.n_batch = n_batch, .kv_type = mode.kv_type, .recurrence = mode.recurrence}));
}

/// One with reads under way by itself: io_uring where there is liburing.
storage::AnyStorage asynchronous(std::span<const std::filesystem::path> paths, std::size_t turn) {
#ifdef LAZYMOE_TEST_URING
  if (turn % 2 == 0) return storage::AnyStorage(storage::Uring(paths));
#endif
  (void)turn;
  return storage::AnyStorage(test::DeferredStorage(paths));
}

/// One store for all policies: each is also compiled into a store of its own in tests/store.
struct Policies : store::DefaultPolicies {
  using Storage = storage::AnyStorage;
  using Eviction = cache::AnyEviction;
  using Prefetch = store::AnyPrefetch;
};

gguf::File open(const std::string& model) {
  return gguf::File(std::string(LAZYMOE_GOLDEN_DIR) + "/models/" + model + ".gguf");
}

/// Bytes of one token's experts, over all layers.
Bytes working_set(const experts::ExpertMap& map, Bytes padding = 0) {
  Bytes total = 0;
  for (LayerIndex layer = 0; layer < map.space().layers; ++layer) {
    if (map.has_experts(layer)) total += map.n_used() * store::SlotPlan::slot_bytes_of(map.layer(layer), padding);
  }
  return total;
}

}  // namespace

TEST_CASE("Neither budget, eviction, storage, prefetch, threads nor batches change a bit of the logits", "[models]") {
  const std::string name = GENERATE(from_range(models));
  const gguf::File file = open(name);
  const experts::ExpertMap map(file);
  std::uint64_t expected[2] = {};
  {
    store::AllResident<> all(file);
    for (const unsigned threads : {1U, 2U, 4U}) {
      parallel::ThreadPool pool(threads);
      const Model model = load_model(file, all, pool);
      for (const std::size_t n_batch : {1U, 7U, 32U}) {
        for (std::size_t mode = 0; mode < 2; ++mode) {
          CAPTURE(name, threads, n_batch, mode);
          const std::uint64_t h = hash_of(model, n_batch, modes[mode]);
          if (expected[mode] == 0) expected[mode] = h;
          REQUIRE(h == expected[mode]);
        }
      }
    }
  }
  CHECK(expected[0] != expected[1]);

  // Every policy on every storage at every budget. Threads, batches and caches take turns; single tokens have one
  // thread, because on a busy machine each of their many short loops would wait for its turn.
  struct Turn {
    unsigned threads;
    std::size_t n_batch;
  };
  constexpr Turn turns[] = {{1, 1}, {2, 7}, {4, 32}, {2, 32}, {4, 7}};
  std::size_t n_runs = 0;
  for (const std::string_view eviction : cache::eviction_names()) {
    for (const std::string_view storage : storage::storage_names()) {
      for (std::size_t size = 0; size < 4; ++size) {
        const Turn turn = turns[n_runs % std::size(turns)];
        const std::size_t mode = n_runs / std::size(turns) % 2;
        ++n_runs;
        // Families share the store: one of them meets all its policies, the others a third each.
        if (name != models.front() && n_runs % 3 != 0) continue;
        auto opened = n_runs % 5 == 0 ? asynchronous(file.paths(), n_runs / 5)
                                      : storage::make_storage(storage, file.paths());
        const Bytes padding = storage::padding(opened);
        const store::ExpertBudget budget = size == 0   ? store::SlotPlan::floor_bytes(map, padding)
                                           : size == 1 ? store::ExpertBudget(working_set(map, padding))
                                           : size == 2 ? store::ExpertBudget::experts(6)
                                                       : store::ExpertBudget();
        CAPTURE(name, eviction, storage, budget.amount, turn.threads, turn.n_batch, mode);
        parallel::ThreadPool pool(turn.threads);
        const auto prefetch = store::AnyPrefetch::names[n_runs % store::AnyPrefetch::names.size()];
        CAPTURE(prefetch);
        store::ExpertStore<Policies> experts(
            map, std::move(opened), {.budget = budget, .prefetches = 1 + n_runs % 3},
            [&](KeySpace space) { return cache::make_eviction(eviction, space); },
            store::AnyPrefetch::of(prefetch, {.depth = 1 + n_runs % 4, .width = n_runs % 7}));
        REQUIRE(hash_of(load_model(file, experts, pool), turn.n_batch, modes[mode]) == expected[mode]);
      }
    }
  }
}

TEST_CASE("The budgets of this test do evict, but for the largest", "[models]") {
  const std::string name = GENERATE(from_range(models));
  const gguf::File file = open(name);
  const experts::ExpertMap map(file);
  parallel::ThreadPool pool(1);
  const auto evictions = [&](store::ExpertBudget budget) {
    auto experts = store::make_store(file, {.budget = budget});
    const Model model = load_model(file, experts, pool);
    (void)hash_of(model, 7, modes[0]);
    return experts.counters().total.evictions;
  };
  CHECK(evictions(store::SlotPlan::floor_bytes(map)) > 0);
  CHECK(evictions(working_set(map)) > 0);
  CHECK(evictions(store::ExpertBudget::experts(6)) > 0);
  CHECK(evictions({}) == 0);
}

}  // namespace lazymoe::models
