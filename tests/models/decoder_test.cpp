#include <lazymoe/models/decoder.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <lazymoe/gguf/writer.hpp>
#include <lazymoe/io/file_handle.hpp>
#include <lazymoe/models/load.hpp>
#include <lazymoe/store/expert_store.hpp>
#include <lazymoe/store/forwarding_source.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

constexpr std::size_t n_vocab = test::TinyMoe{}.n_vocab;

/// The default tiny model, all in memory.
struct Tiny {
  test::TempDir directory;
  test::Loaded loaded{test::TinyMoe{}.write(directory.path())};
  const Model& model = loaded.model;
};

std::vector<float> rows(const std::vector<float>& logits, std::size_t first, std::size_t n) {
  const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(first * n_vocab);
  return {begin, begin + static_cast<std::ptrdiff_t>(n * n_vocab)};
}

/// Passes experts on until the reads of one acquire() fail.
class Unreliable final : public store::ForwardingSource {
 public:
  using ForwardingSource::ForwardingSource;

  store::Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts, store::Use use) override {
    if (calls_until_failure-- == 0) throw Error(Errc::io, "the disk is gone");
    return ForwardingSource::acquire(layer, experts, use);
  }

  int calls_until_failure = -1;
};

/// The same model with each expert's fused gate and up in two tensors.
gguf::Writer separated(const gguf::File& file) {
  gguf::Writer writer;
  for (const auto& entry : file.metadata()) writer.set(entry.key, entry.value);
  const io::FileHandle from(file.paths().front());
  for (const gguf::TensorInfo& info : file.tensors()) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(info.bytes));
    from.read_exact_at(info.offset, bytes);
    const std::size_t at = info.name.find("gate_up");
    if (at == std::string::npos) {
      writer.add_tensor(info.name, {info.dims.begin(), info.dims.begin() + info.n_dims}, info.type, bytes);
      continue;
    }
    const auto half = static_cast<std::ptrdiff_t>(info.bytes / info.slices() / 2);
    for (const std::string part : {"gate", "up"}) {
      std::vector<std::byte> halves;
      for (auto i = bytes.begin() + (part == "up" ? half : 0); i < bytes.end(); i += 2 * half) {
        halves.insert(halves.end(), i, i + half);
      }
      writer.add_tensor(std::string(info.name).replace(at, 7, part), {info.cols(), info.rows() / 2, info.slices()},
                        info.type, halves);
    }
  }
  return writer;
}

}  // namespace

TEST_CASE("A prompt in one batch gives the bits of its tokens one by one", "[models]") {
  const Tiny tiny;
  const KvType kv_type = GENERATE(KvType::f16, KvType::f32);
  const auto tokens = test::some_tokens(40, n_vocab);
  const auto expected = test::all_logits(tiny.model, tokens, {.n_batch = 1, .kv_type = kv_type});
  for (const std::size_t n_batch : {2U, 7U, 32U, 40U, 1000U}) {
    CAPTURE(n_batch);
    CHECK(test::all_logits(tiny.model, tokens, {.n_batch = n_batch, .kv_type = kv_type}) == expected);
  }
}

TEST_CASE("A prompt in several calls gives the bits of one call", "[models]") {
  const Tiny tiny;
  const auto tokens = test::some_tokens(20, n_vocab);
  const auto expected = test::all_logits(tiny.model, tokens);
  const auto sequence = tiny.model.new_sequence();
  std::vector<float> logits;
  for (std::size_t first = 0; first < 20; first += 5) {
    const auto part = test::all_logits(tiny.model, *sequence, std::span(tokens).subspan(first, 5));
    logits.insert(logits.end(), part.begin(), part.end());
  }
  CHECK(logits == expected);
}

TEST_CASE("Logits of the last token or of none run the same positions as logits of all", "[models]") {
  const Tiny tiny;
  const std::size_t n_batch = GENERATE(1U, 8U, 32U);
  const auto tokens = test::some_tokens(17, n_vocab);
  const auto all = test::all_logits(tiny.model, tokens);

  const auto sequence = tiny.model.new_sequence({.n_batch = n_batch});
  tiny.model.forward(*sequence, std::span(tokens).first(10), {});
  CHECK(sequence->length() == 10);
  std::vector<float> last(n_vocab);
  tiny.model.forward(*sequence, std::span(tokens).subspan(10), last);
  CHECK(sequence->length() == 17);
  CHECK(last == rows(all, 16, 1));
}

TEST_CASE("No tokens change nothing", "[models]") {
  const Tiny tiny;
  const auto sequence = tiny.model.new_sequence();
  tiny.model.forward(*sequence, {}, {});
  CHECK(sequence->length() == 0);
}

TEST_CASE("After a rewind the same tokens give the same bits, and others do not", "[models]") {
  const Tiny tiny;
  const auto tokens = test::some_tokens(24, n_vocab);
  const auto sequence = tiny.model.new_sequence();
  const auto expected = test::all_logits(tiny.model, *sequence, tokens);
  sequence->rewind(9);
  const auto other = test::all_logits(tiny.model, *sequence, test::some_tokens(15, n_vocab, 99));
  CHECK(other != rows(expected, 9, 15));
  sequence->rewind(9);
  CHECK(test::all_logits(tiny.model, *sequence, std::span(tokens).subspan(9)) == rows(expected, 9, 15));
  sequence->rewind(0);
  CHECK(test::all_logits(tiny.model, *sequence, tokens) == expected);
}

TEST_CASE("Earlier tokens do not see later ones", "[models]") {
  const Tiny tiny;
  auto tokens = test::some_tokens(12, n_vocab);
  const auto before = test::all_logits(tiny.model, tokens);
  tokens[8] = (tokens[8] + 1) % static_cast<TokenId>(n_vocab);
  const auto after = test::all_logits(tiny.model, tokens);
  CHECK(rows(after, 0, 8) == rows(before, 0, 8));
  for (std::size_t t = 8; t < 12; ++t) CHECK(rows(after, t, 1) != rows(before, t, 1));
}

TEST_CASE("A token that is not in the vocabulary is refused before anything is run", "[models]") {
  const Tiny tiny;
  const auto sequence = tiny.model.new_sequence({.n_batch = 2});
  auto tokens = test::some_tokens(9, n_vocab);
  for (const TokenId bad : {TokenId{40}, TokenId{-1}, TokenId{0x7FFFFFFF}}) {
    tokens.back() = bad;
    std::vector<float> logits(n_vocab, 5.0F);
    const Error error = test::error_of([&] { tiny.model.forward(*sequence, tokens, logits); });
    CHECK(error.code() == Errc::bad_argument);
    CHECK(test::mentions(error, "token " + std::to_string(bad) + " is not in the vocabulary of 40"));
    CHECK(sequence->length() == 0);
    CHECK(logits == std::vector<float>(n_vocab, 5.0F));
  }
}

TEST_CASE("More tokens than the context holds are refused before anything is run", "[models]") {
  const Tiny tiny;
  const auto sequence = tiny.model.new_sequence({.n_ctx = 10, .n_batch = 2});
  const auto tokens = test::some_tokens(11, n_vocab);
  const Error error = test::error_of([&] { tiny.model.forward(*sequence, tokens, {}); });
  CHECK(error.code() == Errc::context_full);
  CHECK(test::mentions(error, "11 tokens do not fit a context of 10 that holds 0"));
  CHECK(sequence->length() == 0);

  tiny.model.forward(*sequence, std::span(tokens).first(10), {});
  CHECK(sequence->length() == sequence->capacity());
  CHECK(test::error_of([&] { tiny.model.forward(*sequence, std::span(tokens).last(1), {}); }).code() ==
        Errc::context_full);
}

TEST_CASE("An expert that cannot be read ends the batch, and the sequence goes on from before it", "[models]") {
  const test::TempDir directory;
  test::Loaded loaded(test::TinyMoe{}.write(directory.path()));
  Unreliable experts(loaded.experts);
  const Model model = load_model(loaded.file, experts, loaded.pool);
  const auto tokens = test::some_tokens(12, n_vocab);
  const auto expected = test::all_logits(model, tokens);

  const auto sequence = model.new_sequence({.n_batch = 4});
  std::vector<float> logits(tokens.size() * n_vocab);
  experts.calls_until_failure = 4;  // in the second of three layers, of the second of three batches
  CHECK(test::error_of([&] { model.forward(*sequence, tokens, logits); }).code() == Errc::io);
  CHECK(sequence->length() == 4);
  CHECK(rows(logits, 0, 4) == rows(expected, 0, 4));
  CHECK(test::all_logits(model, *sequence, std::span(tokens).subspan(4)) == rows(expected, 4, 8));
}

TEST_CASE("Sequences of one model may run at the same time, even on the smallest budget", "[models]") {
  const test::TempDir directory;
  const gguf::File file(test::TinyMoe{}.write(directory.path()));
  parallel::ThreadPool pool(2);
  auto experts = store::make_store(file, {.budget = store::SlotPlan::floor_bytes(experts::ExpertMap(file))});
  const Model model = load_model(file, experts, pool);

  std::vector<std::vector<TokenId>> prompts;
  std::vector<std::vector<float>> expected;
  for (std::uint64_t i = 0; i < 3; ++i) {
    prompts.push_back(test::some_tokens(30, n_vocab, i));
    expected.push_back(test::all_logits(model, prompts.back()));
  }
  std::vector<std::vector<float>> got(prompts.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    threads.emplace_back([&, i] { got[i] = test::all_logits(model, prompts[i], {.n_batch = 1 + 4 * i}); });
  }
  for (std::thread& t : threads) t.join();
  CHECK(got == expected);
  CHECK(experts.idle());
}

TEST_CASE("A tied output gives the logits of the same matrix twice", "[models]") {
  test::TinyMoe tiny;
  tiny.tied = true;
  const test::TempDir directory;
  const gguf::Writer untied = [&] {
    gguf::Writer w = tiny.writer();
    // The first numbers of the noise are the embedding's.
    w.add_tensor("output.weight", {tiny.n_embd, tiny.n_vocab}, quant::TypeId::f32,
                 test::TinyMoe::packed(test::Noise(tiny.seed).values(tiny.n_embd * tiny.n_vocab), quant::TypeId::f32));
    return w;
  }();
  untied.write(directory.path() / "untied.gguf");
  const test::Loaded one(tiny.write(directory.path()));
  const test::Loaded two(directory.path() / "untied.gguf");
  const auto tokens = test::some_tokens(6, tiny.n_vocab);
  CHECK(test::all_logits(one.model, tokens) == test::all_logits(two.model, tokens));
  CHECK(two.model.weight_bytes() - one.model.weight_bytes() == tiny.n_embd * tiny.n_vocab * 4);
}

TEST_CASE("Gate and up in one tensor give the bits of two tensors", "[models]") {
  test::TinyMoe tiny;
  tiny.fused_gate_up = true;
  const test::TempDir directory;
  const test::Loaded fused(tiny.write(directory.path()));
  separated(fused.file).write(directory.path() / "separate.gguf");
  const test::Loaded separate(directory.path() / "separate.gguf");
  CHECK(separate.file.find("blk.0.ffn_up_exps.weight") != nullptr);
  const auto tokens = test::some_tokens(10, tiny.n_vocab);
  CHECK(test::all_logits(fused.model, tokens) == test::all_logits(separate.model, tokens));
}

}  // namespace lazymoe::models
