// Sequences, threads and models that share a store or a budget.
#include <lazymoe/store/expert_store.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <lazymoe/models/load.hpp>
#include <lazymoe/store/memory_budget.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::models {
namespace {

struct Guessing : store::DefaultPolicies {
  using Prefetch = store::GateLookahead;
};

}  // namespace

TEMPLATE_TEST_CASE("Threads with sequences of their own share a store that is too small for them", "[models]",
                   store::DefaultPolicies, Guessing) {
  const test::TempDir dir;
  const std::string path = (dir.path() / "tiny.gguf").string();
  test::TinyMoe{.n_used = 3}.writer().write(path);
  test::Loaded all(path);
  constexpr std::size_t n_threads = 4;
  std::vector<std::vector<TokenId>> tokens;
  std::vector<std::vector<float>> expected;
  for (std::size_t i = 0; i < n_threads; ++i) {
    tokens.push_back(test::some_tokens(20, all.model.config().n_vocab, i));
    expected.push_back(test::all_logits(all.model, tokens.back()));
  }

  auto experts = store::make_store<TestType>(all.file, {.budget = store::ExpertBudget::experts(5), .io_threads = 2});
  std::atomic<std::size_t> n_wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < n_threads; ++i) {
    threads.emplace_back([&, i] {
      parallel::ThreadPool own(1);
      const Model model = load_model(all.file, experts, own);
      for (const std::size_t n_batch : {1U, 6U, 20U}) {
        if (test::all_logits(model, tokens[i], {.n_batch = n_batch}) != expected[i]) ++n_wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(n_wrong == 0);
  CHECK(experts.counters().total.evictions > 0);
}

TEST_CASE("Two models share one budget, and neither takes what is the other's", "[models]") {
  const test::TempDir dir;
  const std::string paths[] = {(dir.path() / "one.gguf").string(), (dir.path() / "two.gguf").string()};
  test::TinyMoe{.seed = 1}.writer().write(paths[0]);
  test::TinyMoe{.n_experts = 16, .seed = 2}.writer().write(paths[1]);
  test::Loaded first(paths[0]);
  test::Loaded second(paths[1]);
  const auto floor = [](const test::Loaded& loaded) { return store::SlotPlan::floor_bytes(loaded.experts.map()); };

  store::MemoryBudget memory(2 * floor(first) + 3 * floor(second));
  memory.reserve("experts of one", 2 * floor(first));
  auto one = store::make_store(first.file, {.budget = 2 * floor(first)});
  auto two = store::make_store(second.file, {.budget = memory.reserve_rest("experts of two", floor(second))});
  CHECK(memory.left() == 0);
  CHECK(one.plan().total_bytes() + two.plan().total_bytes() <= memory.total());

  parallel::ThreadPool pool(2);
  const Model lazy_one = load_model(first.file, one, pool);
  const Model lazy_two = load_model(second.file, two, pool);
  const auto tokens = test::some_tokens(12, lazy_one.config().n_vocab);
  const auto sequence_one = lazy_one.new_sequence({});
  const auto sequence_two = lazy_two.new_sequence({});
  std::vector<float> logits_one;
  std::vector<float> logits_two;
  for (const TokenId token : tokens) {  // in turns
    const auto step = [&](const Model& model, Sequence& sequence, std::vector<float>& logits) {
      const auto row = test::all_logits(model, sequence, std::vector{token});
      logits.insert(logits.end(), row.begin(), row.end());
    };
    step(lazy_one, *sequence_one, logits_one);
    step(lazy_two, *sequence_two, logits_two);
  }
  CHECK(logits_one == test::all_logits(first.model, tokens));
  CHECK(logits_two == test::all_logits(second.model, tokens));
}

}  // namespace lazymoe::models
