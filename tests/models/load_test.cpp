#include <lazymoe/models/load.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <lazymoe/gguf/writer.hpp>

#include "models/loaded.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

/// What check_model() says of a file.
Error checked(const gguf::Writer& writer) {
  const test::TempDir directory;
  writer.write(directory.path() / "m.gguf");
  const gguf::File file(directory.path() / "m.gguf");
  return test::error_of([&] { check_model(file); });
}

/// What load_model() says of the same, with the experts of a good model.
Error loaded(const gguf::Writer& writer) {
  const test::TempDir directory;
  const gguf::File good(test::TinyMoe{}.write(directory.path()));
  store::AllResident<> experts(good);
  parallel::ThreadPool pool(1);
  writer.write(directory.path() / "m.gguf");
  const gguf::File file(directory.path() / "m.gguf");
  return test::error_of([&] { (void)load_model(file, experts, pool); });
}

bool thrown(const Error& error) { return std::string(error.what()) != "nothing was thrown"; }

}  // namespace

TEST_CASE("A good model passes the check and loads", "[models]") {
  test::TinyMoe tiny;
  tiny.tied = GENERATE(false, true);
  tiny.fused_gate_up = GENERATE(false, true);
  CHECK_FALSE(thrown(checked(tiny.writer())));
  const test::TempDir directory;
  const test::Loaded loaded(tiny.write(directory.path()));
  CHECK(loaded.model.config().n_vocab == tiny.n_vocab);
  CHECK(loaded.model.config().n_layers == tiny.n_layers);
}

TEST_CASE("The bytes of the dense weights are those of the file without its experts", "[models]") {
  test::TinyMoe tiny;
  tiny.dense_type = GENERATE(quant::TypeId::f32, quant::TypeId::q8_0);
  const test::TempDir directory;
  const test::Loaded loaded(tiny.write(directory.path()));
  Bytes all = 0;
  for (const auto& tensor : loaded.file.tensors()) all += tensor.bytes;
  CHECK(loaded.model.weight_bytes() == all - loaded.experts.map().total_bytes());
}

TEST_CASE("Mapped weights give the bits of weights that were read", "[models]") {
  test::TinyMoe tiny;
  tiny.dense_type = quant::TypeId::q8_0;
  tiny.head_dim = 32;
  const test::TempDir directory;
  const auto path = tiny.write(directory.path());
  const test::Loaded read(path, 2, WeightStorage::read);
  const test::Loaded mapped(path, 2, WeightStorage::mmap);
  const auto tokens = test::some_tokens(10, tiny.n_vocab);
  CHECK(mapped.model.weight_bytes() == read.model.weight_bytes());
  CHECK(test::all_logits(mapped.model, tokens) == test::all_logits(read.model, tokens));
}

TEST_CASE("A model needs its file no more once it is loaded", "[models]") {
  const test::TempDir directory;
  const auto path = test::TinyMoe{}.write(directory.path());
  parallel::ThreadPool pool(1);
  auto file = std::make_unique<gguf::File>(path);
  store::AllResident<> experts(*file);
  const Model model = load_model(*file, experts, pool, GENERATE(WeightStorage::read, WeightStorage::mmap));
  const auto expected = test::all_logits(model, test::some_tokens(4, 40));
  file.reset();
  std::filesystem::remove(path);
  CHECK(test::all_logits(model, test::some_tokens(4, 40)) == expected);
}

TEST_CASE("Loading tells its progress", "[models]") {
  const test::TempDir directory;
  const gguf::File file(test::TinyMoe{}.write(directory.path()));
  store::AllResident<> experts(file);
  parallel::ThreadPool pool(1);
  Bytes last = 0;
  Bytes total = 0;
  const Model model = load_model(file, experts, pool, WeightStorage::read, [&](Bytes done, Bytes of) {
    CHECK(done > last);
    last = done;
    total = of;
  });
  CHECK(last == total);
  CHECK(total == model.weight_bytes());
}

TEST_CASE("An architecture that is not built is refused with the list of those that are", "[models]") {
  gguf::Writer writer = test::TinyMoe{}.writer();
  writer.set("general.architecture", "gemma4");
  for (const Error& error : {checked(writer), loaded(writer)}) {
    CHECK(error.code() == Errc::unsupported_model);
    CHECK(test::mentions(error, "m.gguf: architecture 'gemma4' is not supported; these are: deepseek2, glm4moe, "));
  }
}

TEST_CASE("A file without an architecture is refused by the missing key", "[models]") {
  gguf::Writer writer;
  writer.set("general.name", "nothing");
  const Error error = checked(writer);
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "general.architecture"));
}

TEST_CASE("A key that is out of range is refused before tensors are looked at", "[models]") {
  gguf::Writer writer = test::TinyMoe{}.writer();
  writer.set("qwen3moe.expert_used_count", std::uint32_t{9});
  for (const Error& error : {checked(writer), loaded(writer)}) {
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "m.gguf: key 'qwen3moe.expert_used_count' is larger than expert_count"));
  }
}

TEST_CASE("All that is wrong with the tensors is said at once", "[models]") {
  gguf::Writer writer = test::TinyMoe{}.writer();
  const auto value = test::TinyMoe::packed(std::vector<float>(16, 1.0F), quant::TypeId::f32);
  writer.add_tensor("blk.1.attn_q.bias", {16}, quant::TypeId::f32, value);
  writer.add_tensor("blk.2.attn_q.scale", {16}, quant::TypeId::f32, value);
  writer.set("qwen3moe.attention.key_length", std::uint32_t{8});  // of 16: queries, keys and their norms do not fit
  for (const Error& error : {checked(writer), loaded(writer)}) {
    CHECK(error.code() == Errc::bad_tensor);
    CAPTURE(error.what());
    CHECK(test::mentions(error, "tensor blk.1.attn_q.bias is not part of this architecture"));
    CHECK(test::mentions(error, "tensor blk.2.attn_q.scale is not part of this architecture"));
    CHECK(test::mentions(error, "tensor blk.0.attn_q.weight has shape {32, 32}, expected {32, 16}"));
    CHECK(test::mentions(error, "tensor blk.2.attn_k_norm.weight has shape {16}, expected {8}"));
  }
}

TEST_CASE("A model without its embedding lacks that tensor, and the output is not blamed", "[models]") {
  gguf::Writer writer;
  writer.set("general.architecture", "qwen3moe");
  for (const char* key : {"block_count", "context_length", "embedding_length", "attention.head_count", "expert_count",
                          "expert_used_count", "expert_feed_forward_length"}) {
    writer.set(std::string("qwen3moe.") + key, std::uint32_t{2});
  }
  writer.set("qwen3moe.attention.key_length", std::uint32_t{2});
  writer.set("qwen3moe.attention.layer_norm_rms_epsilon", 1e-6F);
  const bool tied = GENERATE(false, true);
  if (!tied) {
    writer.add_tensor("output.weight", {2, 3}, quant::TypeId::f32,
                      test::TinyMoe::packed(std::vector<float>(6), quant::TypeId::f32));
  }
  const Error error = checked(writer);
  CAPTURE(error.what());
  CHECK(error.code() == Errc::bad_tensor);
  CHECK(test::mentions(error, "tensor token_embd.weight is missing; tensor output_norm.weight is missing; "
                              "tensor blk.0.attn_norm.weight is missing"));
  CHECK_FALSE(test::mentions(error, "output.weight has shape"));
  CHECK(test::mentions(error, "tensor blk.1.ffn_down_exps.weight is missing"));
}

TEST_CASE("A context or a batch of no use is refused", "[models]") {
  const test::TempDir directory;
  const test::Loaded loaded(test::TinyMoe{}.write(directory.path()));
  CHECK(loaded.model.new_sequence()->capacity() == 256);  // the model's own
  CHECK(loaded.model.new_sequence({.n_ctx = 256})->capacity() == 256);
  const auto refused = [&](const SequenceOptions& options, const std::string& part) {
    const Error error = test::error_of([&] { (void)loaded.model.new_sequence(options); });
    CHECK(error.code() == Errc::bad_argument);
    CHECK(test::mentions(error, part));
  };
  refused({.n_ctx = 257}, "a context of 257 tokens is more than the model allows, which is 256");
  refused({.n_batch = 0}, "a batch of 0 tokens runs nothing");
}

TEST_CASE("A long context is cut to 4096 positions unless asked for", "[models]") {
  test::TinyMoe tiny;
  tiny.n_ctx = 10000;
  const test::TempDir directory;
  const test::Loaded loaded(tiny.write(directory.path()));
  CHECK(loaded.model.new_sequence()->capacity() == 4096);
  CHECK(loaded.model.new_sequence({.n_ctx = 10000})->capacity() == 10000);
}

TEST_CASE("A trailing block of next-token prediction changes no logits", "[models]") {
  const test::TinyMoe tiny;
  const test::TempDir directory;
  gguf::Writer writer = tiny.writer();
  writer.set("qwen3moe.block_count", static_cast<std::uint32_t>(tiny.n_layers + 1));
  writer.set("qwen3moe.nextn_predict_layers", std::uint32_t{1});
  writer.add_tensor("blk.3.nextn.eh_proj.weight", {4, 2}, quant::TypeId::f32,
                    test::TinyMoe::packed(std::vector<float>(8), quant::TypeId::f32));
  writer.write(directory.path() / "more.gguf");
  const test::Loaded plain(tiny.write(directory.path()));
  const test::Loaded more(directory.path() / "more.gguf");
  const auto tokens = test::some_tokens(5, tiny.n_vocab);
  CHECK(test::all_logits(more.model, tokens) == test::all_logits(plain.model, tokens));
}

}  // namespace lazymoe::models
