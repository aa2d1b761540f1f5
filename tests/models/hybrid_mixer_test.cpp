#include <lazymoe/models/hybrid_mixer.hpp>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <lazymoe/models/load.hpp>
#include <lazymoe/store/expert_store.hpp>
#include <lazymoe/store/forwarding_source.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

/// Three layers of DeltaNet, then one of attention; tests/golden/models/README.md.
const std::string& path() {
  static const std::string path = std::string(LAZYMOE_GOLDEN_DIR) + "/models/qwen35moe/Q8_0.gguf";
  return path;
}

constexpr std::size_t n_vocab = 64;

/// Rows [first, first + n) of logits.
std::vector<float> rows(const std::vector<float>& logits, std::size_t first, std::size_t n) {
  const auto at = [&](std::size_t row) { return logits.begin() + static_cast<std::ptrdiff_t>(row * n_vocab); };
  return {at(first), at(first + n)};
}

/// Fails to lend when its countdown ends.
class Unreliable final : public store::ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  store::Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts, store::Use use) override {
    if (calls_until_failure > 0 && --calls_until_failure == 0) throw Error(Errc::io, "the disk is gone");
    return ForwardingSource::acquire(layer, experts, use);
  }

  std::size_t calls_until_failure = 0;
};

}  // namespace

TEST_CASE("Each form of a hybrid gives the same bits for all batches, threads and budgets", "[models]") {
  const Recurrence recurrence = GENERATE(Recurrence::step, Recurrence::chunked);
  const auto tokens = test::some_tokens(50, n_vocab);
  const test::Loaded eager(path(), 1);
  const auto expected = test::all_logits(eager.model, tokens, {.n_batch = 1, .recurrence = recurrence});
  for (const std::size_t n_batch : {7U, 32U, 50U}) {
    CAPTURE(n_batch);
    CHECK(test::all_logits(eager.model, tokens, {.n_batch = n_batch, .recurrence = recurrence}) == expected);

    const gguf::File file(path());
    parallel::ThreadPool pool(2);
    auto lazy = store::make_store(file, {.budget = store::SlotPlan::floor_bytes(experts::ExpertMap(file))});
    const Model model = load_model(file, lazy, pool);
    CHECK(test::all_logits(model, tokens, {.n_batch = n_batch, .recurrence = recurrence}) == expected);
  }
}

TEST_CASE("Chunks change the logits of a hybrid no more than another order of sums does", "[models]") {
  const auto tokens = test::some_tokens(64, n_vocab);
  const test::Loaded loaded(std::string(LAZYMOE_GOLDEN_DIR) + "/models/qwen35moe/F32.gguf");
  const auto steps = test::all_logits(loaded.model, tokens, {.kv_type = KvType::f32});
  const auto chunks =
      test::all_logits(loaded.model, tokens, {.kv_type = KvType::f32, .recurrence = Recurrence::chunked});
  double differences = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    differences += std::pow(static_cast<double>(chunks[i]) - static_cast<double>(steps[i]), 2);
    squares += std::pow(static_cast<double>(steps[i]), 2);
  }
  CHECK(std::sqrt(differences / squares) < 1e-5);
  CHECK(chunks != steps);
}

TEST_CASE("A hybrid goes back to kept positions and gives the bits it gave before", "[models]") {
  const Recurrence recurrence = GENERATE(Recurrence::step, Recurrence::chunked);
  const auto tokens = test::some_tokens(40, n_vocab);
  const test::Loaded loaded(path());
  const auto expected = test::all_logits(loaded.model, tokens, {.recurrence = recurrence});
  const auto sequence = loaded.model.new_sequence({.recurrence = recurrence});
  const auto run = [&](std::span<const TokenId> some) { return test::all_logits(loaded.model, *sequence, some); };
  const std::span all(tokens);

  CHECK(run(all.first(21)) == rows(expected, 0, 21));
  sequence->keep();
  loaded.model.forward(*sequence, test::some_tokens(9, n_vocab, 77), {});
  CHECK(sequence->rewind(25) == 21);
  CHECK(sequence->length() == 21);
  CHECK(run(all.subspan(21)) == rows(expected, 21, 19));
  // Nothing is known of position 20.
  CHECK(sequence->rewind(20) == 0);
  CHECK(run(tokens) == expected);
}

TEST_CASE("A hybrid whose batch failed goes on from the last kept position", "[models]") {
  const test::Loaded loaded(path());
  store::AllResident<> all(loaded.file);
  Unreliable experts(all);
  parallel::ThreadPool pool(1);
  const Model model = load_model(loaded.file, experts, pool);
  const auto tokens = test::some_tokens(30, n_vocab);
  const auto expected = test::all_logits(model, tokens);

  const auto sequence = model.new_sequence({.n_batch = 10});
  model.forward(*sequence, std::span(tokens).first(10), {});
  sequence->keep();
  experts.calls_until_failure = model.config().n_layers + 2;  // in the second batch from here
  std::vector<float> logits(20 * n_vocab);
  CHECK(test::error_of([&] { model.forward(*sequence, std::span(tokens).subspan(10), logits); }).code() == Errc::io);
  CHECK(sequence->length() == 10);
  CHECK(test::all_logits(model, *sequence, std::span(tokens).subspan(10)) == rows(expected, 10, 20));
}

TEST_CASE("A hybrid's state counts its snapshots, and keys and values of the layers that attend", "[models]") {
  const test::Loaded loaded(path());
  const Config& c = loaded.model.config();
  const auto bytes = [&](std::size_t n_snapshots) {
    return loaded.model.new_sequence({.n_ctx = 100, .n_snapshots = n_snapshots})->bytes();
  };
  const Bytes recurrent = bytes(1) - bytes(0);
  CHECK(bytes(3) == bytes(0) + 3 * recurrent);
  const std::size_t attending = c.n_layers - c.recurrent_before(c.n_layers);
  CHECK(bytes(0) - recurrent == attending * 100 * c.n_kv_heads * (c.key_dim + c.value_dim) * 2);
}

}  // namespace lazymoe::models
