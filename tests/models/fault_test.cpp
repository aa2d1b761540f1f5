// Whatever reads do, a run ends with the right bits or with one error, and the store serves what comes next.
#include <lazymoe/store/expert_store.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <lazymoe/cache/registry.hpp>
#include <lazymoe/models/load.hpp>
#include <lazymoe/storage/any_storage.hpp>
#include <lazymoe/storage/direct.hpp>
#include <lazymoe/storage/faulty.hpp>
#include <lazymoe/storage/pread.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/deferred_storage.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

struct Policies : store::DefaultPolicies {
  using Storage = storage::AnyStorage;
  using Eviction = cache::AnyEviction;
  using Prefetch = store::AnyPrefetch;
};

/// Set LAZYMOE_FAULT_RUNS for another number.
std::uint32_t n_runs() {
  const char* const asked = std::getenv("LAZYMOE_FAULT_RUNS");
  return asked == nullptr ? 10'000 : static_cast<std::uint32_t>(std::strtoul(asked, nullptr, 10));
}

storage::AnyStorage faulty(std::uint32_t seed, std::span<const std::filesystem::path> paths,
                           const storage::FaultPlan& plan) {
  const storage::FaultyRead read(plan);
  switch (seed % 4) {
    case 0: return storage::AnyStorage(storage::BasicPread<storage::FaultyRead>(paths, read));
    case 1: return storage::AnyStorage(storage::BasicDirect<storage::FaultyRead>(paths, read));
    case 2: return storage::AnyStorage(test::Deferred(storage::Faulty<storage::Pread>(paths, plan)));
    default: return storage::AnyStorage(storage::Faulty<storage::Pread>(paths, plan));
  }
}

}  // namespace

TEST_CASE("With faults of every kind a run ends with the right bits or one error, and the next is served", "[models][faults]") {
  const test::TempDir dir;
  const std::string path = (dir.path() / "tiny.gguf").string();
  test::TinyMoe{.n_layers = 2, .first_down_type = quant::TypeId::f16}.writer().write(path);
  const gguf::File file(path);
  const experts::ExpertMap map(file);
  parallel::ThreadPool one(1);
  parallel::ThreadPool two(2);

  store::AllResident<> all(file);
  const Model reference = load_model(file, all, one);
  const auto tokens = test::some_tokens(4, reference.config().n_vocab);
  const std::vector<float> expected = test::all_logits(reference, tokens);

  std::size_t n_wrong = 0;
  std::size_t n_bad_errors = 0;
  std::size_t n_errors = 0;
  std::size_t n_right = 0;
  std::size_t n_stuck = 0;
  for (std::uint32_t seed = 0; seed < n_runs(); ++seed) {
    CAPTURE(seed);
    const bool lasting = seed % 3 != 0;  // else every read can be had by trying again
    const storage::FaultPlan plan{.seed = seed,
                                  .transient = 200,
                                  .delayed = 10,
                                  .lasting = lasting ? 5 + seed % 60 : 0,
                                  .delay = std::chrono::microseconds(50)};
    const auto names = cache::eviction_names();
    store::ExpertStore<Policies> experts(
        map, faulty(seed / 3, file.paths(), plan),
        {.budget = store::ExpertBudget::experts(4 + seed % 9), .io_threads = 1 + seed % 3, .prefetches = 1 + seed % 2},
        [&](KeySpace space) { return cache::make_eviction(names[seed % names.size()], space); },
        store::AnyPrefetch::of(store::AnyPrefetch::names[seed / 4 % 3]));
    const Model model = load_model(file, experts, seed % 2 == 0 ? one : two);
    bool done = false;
    for (int attempt = 0; attempt < 200 && !done; ++attempt) {
      try {
        const auto sequence = model.new_sequence({.n_batch = seed % 2 == 0 ? std::size_t{1} : std::size_t{4}});
        if (test::all_logits(model, *sequence, tokens) != expected) ++n_wrong;
        ++n_right;
        done = true;
      } catch (const Error& error) {
        ++n_errors;
        if (error.code() != Errc::io || !lasting || !test::mentions(error, path) || !test::mentions(error, "offset")) {
          ++n_bad_errors;
          UNSCOPED_INFO(error.what());
        }
      }
      for (int ms = 0; ms < 5000 && !experts.idle(); ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (!experts.idle()) ++n_stuck;
    }
    if (!done) ++n_stuck;
  }
  CHECK(n_wrong == 0);
  CHECK(n_bad_errors == 0);
  CHECK(n_stuck == 0);
  CHECK(n_right == n_runs());
  CHECK(n_errors > n_runs() / 10);  // faults did come through
}

}  // namespace lazymoe::models
