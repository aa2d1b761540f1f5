// Lazy equals eager, to the bit: logits depend on the file and the tokens, and on nothing else.
#include <lazymoe/models/load.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include <lazymoe/cache/registry.hpp>
#include <lazymoe/storage/registry.hpp>
#include <lazymoe/store/expert_store.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

constexpr std::size_t n_tokens = 64;

/// Layers of two sizes of experts, in K-quants, whose rows hold blocks of 256.
constexpr test::TinyMoe tiny{.n_layers = 3,
                             .n_embd = 256,
                             .n_heads = 4,
                             .n_kv_heads = 2,
                             .head_dim = 64,
                             .n_experts = 6,
                             .n_used = 2,
                             .n_ff = 256,
                             .expert_type = quant::TypeId::q6_K,
                             .first_down_type = quant::TypeId::q8_0,
                             .dense_type = quant::TypeId::q8_0};

/// FNV-1a, 64 bits.
std::uint64_t hash(std::span<const float> values) {
  std::uint64_t h = 0xCBF29CE484222325U;
  for (const std::byte b : std::as_bytes(values)) h = (h ^ static_cast<std::uint64_t>(b)) * 0x100000001B3U;
  return h;
}

/// Hash of the logits of all tokens.
std::uint64_t hash_of(const Model& model, std::size_t n_batch, KvType kv_type) {
  static const auto tokens = test::some_tokens(n_tokens, tiny.n_vocab);
  return hash(test::all_logits(model, tokens, {.n_batch = n_batch, .kv_type = kv_type}));
}

template <class StoragePolicy, class EvictionPolicy>
struct Policies {
  using Storage = StoragePolicy;
  using Eviction = EvictionPolicy;
};

/// Bytes of one token's experts, over all layers.
Bytes working_set(const experts::ExpertMap& map, Bytes padding = 0) {
  Bytes total = 0;
  for (LayerIndex layer = 0; layer < map.space().layers; ++layer) {
    total += map.n_used() * store::SlotPlan::slot_bytes_of(map.layer(layer), padding);
  }
  return total;
}

}  // namespace

TEST_CASE("Neither budget, eviction, storage, threads nor batches change a bit of the logits", "[models]") {
  const test::TempDir directory;
  const gguf::File file(tiny.write(directory.path()));
  const experts::ExpertMap map(file);
  const KvType kv_types[] = {KvType::f16, KvType::f32};
  std::uint64_t expected[2] = {};
  {
    store::AllResident<> all(file);
    for (const unsigned threads : {1U, 2U, 4U}) {
      parallel::ThreadPool pool(threads);
      const Model model = load_model(file, all, pool);
      for (const std::size_t n_batch : {1U, 7U, 32U}) {
        for (std::size_t kv = 0; kv < 2; ++kv) {
          CAPTURE(threads, n_batch, kv);
          const std::uint64_t h = hash_of(model, n_batch, kv_types[kv]);
          if (expected[kv] == 0) expected[kv] = h;
          REQUIRE(h == expected[kv]);
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
      const Bytes padding = storage::visit_storage(storage, [&](auto storage_type) {
        typename decltype(storage_type)::type opened(file.paths());
        return storage::padding(opened);
      });
      for (const store::ExpertBudget budget :
           {store::ExpertBudget(store::SlotPlan::floor_bytes(map, padding)),
            store::ExpertBudget(working_set(map, padding)), store::ExpertBudget::experts(9), store::ExpertBudget()}) {
        const Turn turn = turns[n_runs % std::size(turns)];
        const std::size_t kv = n_runs / std::size(turns) % 2;
        ++n_runs;
        CAPTURE(eviction, storage, budget.amount, turn.threads, turn.n_batch, kv);
        parallel::ThreadPool pool(turn.threads);
        std::uint64_t h = 0;
        cache::visit_eviction(eviction, [&](auto eviction_type) {
          storage::visit_storage(storage, [&](auto storage_type) {
            using P = Policies<typename decltype(storage_type)::type, typename decltype(eviction_type)::type>;
            store::ExpertStore<P> experts(map, typename P::Storage(file.paths()), {.budget = budget});
            h = hash_of(load_model(file, experts, pool), turn.n_batch, kv_types[kv]);
          });
        });
        REQUIRE(h == expected[kv]);
      }
    }
  }
}

TEST_CASE("The budgets of this test do evict, but for the largest", "[models]") {
  const test::TempDir directory;
  const gguf::File file(tiny.write(directory.path()));
  const experts::ExpertMap map(file);
  parallel::ThreadPool pool(1);
  const auto evictions = [&](store::ExpertBudget budget) {
    auto experts = store::make_store(file, {.budget = budget});
    const Model model = load_model(file, experts, pool);
    (void)hash_of(model, 7, KvType::f16);
    return experts.counters().total.evictions;
  };
  CHECK(evictions(store::SlotPlan::floor_bytes(map)) > 0);
  CHECK(evictions(working_set(map)) > 0);
  CHECK(evictions(store::ExpertBudget::experts(9)) > 0);
  CHECK(evictions({}) == 0);
}

}  // namespace lazymoe::models
