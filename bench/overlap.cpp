// How much of the time of reading experts is hidden behind arithmetic. A model that is in memory is run from an imitated
// disk, so slow that reading what a token misses takes as long as computing a token, T. Without any overlap a token
// would take 2 T, with perfect overlap T. Prints a JSON line for each prefetch policy.
//
//     bench_overlap [MODEL] [--budget BYTES] [--warm N] [--tokens N] [--layers N]
//
// Without a model, a random one is written whose layers add little to what passes through them, so that guesses
// are good: what is measured then is the store, not the model's habits.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <lazymoe/instrument/stopwatch.hpp>
#include <lazymoe/models/load.hpp>
#include <lazymoe/storage/memory.hpp>
#include <lazymoe/storage/throttled.hpp>
#include <lazymoe/store/all_resident.hpp>
#include <lazymoe/store/expert_store.hpp>
#include <nlohmann/json.hpp>

#include "common/counters_json.hpp"
#include "common/program.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace {

using lazymoe::storage::DiskModel;

/// Everything in memory, which many stores read from.
class Shared {
 public:
  static constexpr std::string_view name = "memory";
  explicit Shared(std::span<const std::filesystem::path> paths)
      : memory_(std::make_shared<lazymoe::storage::Memory>(paths)) {}
  [[nodiscard]] lazymoe::Bytes footprint(const lazymoe::experts::SliceRef& slice) const noexcept {
    return memory_->footprint(slice);
  }
  [[nodiscard]] std::span<const std::byte> fetch(const lazymoe::experts::SliceRef& slice, std::span<std::byte> to) {
    return memory_->fetch(slice, to);
  }

 private:
  std::shared_ptr<lazymoe::storage::Memory> memory_;
};

struct Policies : lazymoe::store::DefaultPolicies {
  using Storage = lazymoe::storage::Throttled<Shared>;
  using Prefetch = lazymoe::store::AnyPrefetch;
};

lazymoe::test::TinyMoe model_of_good_guesses(unsigned layers) {
  return {.n_layers = layers,
          .n_embd = 2048,
          .n_heads = 32,
          .n_kv_heads = 4,
          .head_dim = 128,
          .n_experts = 16,
          .n_used = 4,
          .n_ff = 2048,
          .n_vocab = 512,
          .n_ctx = 1024,
          .expert_type = lazymoe::quant::TypeId::q4_0,
          .first_down_type = lazymoe::quant::TypeId::q4_0,
          .dense_type = lazymoe::quant::TypeId::q8_0,
          .sublayer_spread = 0.02F};
}

struct Run {
  double seconds = 0;  ///< a token, mean
  double bytes = 0;    ///< a token, mean
  lazymoe::instrument::StoreCounters counters;
};

struct Length {
  std::size_t n_warm = 32;
  std::size_t n_tokens = 64;
};

/// Random tokens, the same in every run.
template <class Counters>
Run run(const lazymoe::models::Model& model, const Length& length, Counters&& counters) {
  const auto sequence = model.new_sequence({.n_ctx = length.n_warm + length.n_tokens + 1});
  std::vector<float> logits(model.config().n_vocab);
  lazymoe::test::Noise noise(7);
  std::vector<double> seconds;
  lazymoe::instrument::StoreCounters before;
  for (std::size_t i = 0; i < length.n_warm + length.n_tokens; ++i) {
    if (i == length.n_warm) before = counters();
    const auto token = static_cast<lazymoe::TokenId>(noise.bits() % model.config().n_vocab);
    const lazymoe::instrument::Stopwatch watch;
    model.forward(*sequence, std::span(&token, 1), logits);
    if (i >= length.n_warm) seconds.push_back(static_cast<double>(watch.elapsed_ns()) * 1e-9);
  }
  const auto counted = counters() - before;
  return {.seconds = std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size()),
          .bytes = static_cast<double>(counted.bytes_read) / static_cast<double>(length.n_tokens),
          .counters = counted};
}

}  // namespace

int main(int argc, char** argv) {
  return examples::guarded([&] {
    std::string path;
    std::string budget;
    Length length;
    unsigned latency_us = 100;
    std::size_t n_prefetches = 2;
    unsigned layers = 8;
    CLI::App app("Overlap of reading and computing", "bench_overlap");
    app.add_option("MODEL", path, "GGUF file that fits into memory");
    app.add_option("--budget", budget, "memory for experts; default: a third of them");
    app.add_option("--warm", length.n_warm, "tokens before those that are timed");
    app.add_option("--tokens", length.n_tokens, "tokens that are timed")->check(examples::within(1, 1 << 20));
    app.add_option("--latency", latency_us, "of the disk, in microseconds");
    app.add_option("--prefetches", n_prefetches, "experts that are read on a guess at once");
    app.add_option("--layers", layers, "of the model that is written")->check(examples::within(1, 64));
    if (const auto exit_code = examples::parse(app, argc, argv)) return *exit_code;

    const lazymoe::test::TempDir folder;
    if (path.empty()) path = model_of_good_guesses(layers).write(folder.path()).string();
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // the imitated disk is to be punctual
    const lazymoe::gguf::File file(path);
    const lazymoe::experts::ExpertMap map(file);
    lazymoe::parallel::ThreadPool pool;
    const Shared memory(file.paths());
    lazymoe::store::AllResident<Shared> all(file, memory);
    const auto resident = lazymoe::models::load_model(file, all, pool);
    const auto none = [] { return lazymoe::instrument::StoreCounters{}; };
    const double compute = run(resident, length, none).seconds;

    const auto lazy = [&](const DiskModel& disk, const lazymoe::store::AnyPrefetch& prefetch) {
      lazymoe::store::StoreOptions options{.budget = lazymoe::store::SlotPlan(map, {}).total_bytes() / 3,
                                           .io_threads = 8, .prefetches = n_prefetches};
      if (!budget.empty()) options.budget = lazymoe::store::ExpertBudget::parse(budget);
      lazymoe::store::ExpertStore<Policies> experts(
          map, Policies::Storage(memory, disk), options,
          [](lazymoe::KeySpace space) { return Policies::Eviction(space); }, prefetch);
      const auto model = lazymoe::models::load_model(file, experts, pool);
      return run(model, length, [&] { return experts.counters().total; });
    };
    using lazymoe::store::AnyPrefetch;
    const double bytes = lazy({}, AnyPrefetch()).bytes;
    // A layer's reads wait together, and then share the wire.
    const double waiting = 1e-6 * static_cast<double>(latency_us) * map.space().layers;
    const DiskModel disk{.bytes_per_second = bytes / (compute - waiting),
                         .latency = std::chrono::microseconds(latency_us)};
    std::cout << nlohmann::ordered_json{{"T", compute}, {"bytes_per_token", bytes}, {"disk", disk.bytes_per_second}}
              << std::endl;
    const auto report = [&](std::string_view name, const AnyPrefetch& prefetch, std::size_t depth) {
      const Run r = lazy(disk, prefetch);
      // The machine's speed wanders: T is measured again beside each run.
      const double now = run(resident, length, none).seconds;
      nlohmann::ordered_json line{{"prefetch", name}, {"depth", depth}, {"seconds", r.seconds},
                                  {"of_T", r.seconds / ((compute + now) / 2)}, {"bytes_per_token", r.bytes}};
      examples::add_counters(line, r.counters);
      std::cout << line << std::endl;
    };
    report("none", AnyPrefetch(), 0);
    report("same-as-last-token", AnyPrefetch::of("same-as-last-token"), 0);
    for (const std::size_t depth : {1U, 2U, 3U}) {
      report("gate-lookahead", AnyPrefetch::of("gate-lookahead", {.depth = depth}), depth);
    }
    return 0;
  });
}
