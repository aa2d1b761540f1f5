#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <lazymoe/gguf/file.hpp>
#include <lazymoe/gguf/writer.hpp>

#include "gguf/raw_gguf.hpp"
#include "programs/chat_model.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::test {

namespace {

Ended run_on(const std::string& program, const std::filesystem::path& file) {
  std::vector<std::string> arguments{file.string()};
  if (program == "logits") arguments.insert(arguments.end(), {"--tokens", "1,2,3"});
  if (program == "chat") arguments.insert(arguments.end(), {"-p", "hello", "--max-tokens", "3"});
  return run_program(program, arguments);
}

/// One sentence that names `file` and `part`, and nothing said before but what could be known.
void check_refused(const std::string& program, const std::filesystem::path& file, const std::string& part) {
  CAPTURE(program, file.string());
  const Ended ended = run_on(program, file);
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 1);
  CHECK(std::ranges::count(ended.err, '\n') == 1);
  CHECK(ended.err.ends_with('\n'));
  CHECK(contains(ended.err, file.filename().string()));
  CHECK(contains(ended.err, part));
  if (program == "inspect") {
    CHECK((ended.out.empty() || ended.out.starts_with(file.filename().string() + ": ")));
  } else {
    CHECK(ended.out.empty());
  }
}

void check_all_refuse(const std::filesystem::path& file, const std::string& part) {
  for (const auto* program : {"inspect", "logits", "chat"}) check_refused(program, file, part);
}

gguf::Writer small_model() { return chat_model({.n_layers = 2, .n_vocab = 300}); }

}  // namespace

TEST_CASE("what is no GGUF file is refused in one sentence", "[programs][bad_input]") {
  const TempDir dir;
  const auto write = [&](const std::string& name, const std::string& text) {
    return dir.write(name, std::as_bytes(std::span(text)));
  };
  check_all_refuse(write("empty.gguf", ""), "");
  check_all_refuse(write("page.gguf", "<!DOCTYPE html><html><head><title>404 Not Found</title></head></html>"), "");
  check_all_refuse(write("pointer.gguf", "version https://git-lfs.github.com/spec/v1\noid sha256:0123456789abcdef\n"),
                   "");
  check_all_refuse(dir.path(), "is a directory");
  check_all_refuse(dir.path() / "missing.gguf", "No such file");
  check_all_refuse("/dev/zero", "special file");
  const Ended ended = run_on("chat", dir.path() / "line\nend.gguf");
  CHECK(ended.err.ends_with("line end.gguf: cannot open: No such file or directory\n"));
  CHECK(std::ranges::count(ended.err, '\n') == 1);
}

TEST_CASE("a model that was cut short is refused wherever it was cut", "[programs][bad_input]") {
  const auto bytes = small_model().bytes();
  const TempDir dir;
  const gguf::File whole(dir.write("whole.gguf", bytes));
  const auto first = static_cast<std::size_t>(whole.tensors().front().offset);
  std::set<std::size_t> cuts{1, 4, 7, 8, 16, 23, 24, 25, first - 1, first, first + 1, bytes.size() - 33};
  for (std::size_t i = 1; i < 12; ++i) cuts.insert(first * i / 12);
  for (std::size_t i = 1; i < 8; ++i) cuts.insert(first + (bytes.size() - first) * i / 8);
  for (const std::size_t cut : cuts) {
    CAPTURE(cut, bytes.size());
    const auto file = dir.write("cut.gguf", std::span(bytes).first(cut));
    check_all_refuse(file, "");
    if (cut >= first) check_refused("chat", file, "tensor");
  }
}

TEST_CASE("a damaged header is survived or refused in one sentence", "[programs][bad_input]") {
  const auto bytes = small_model().bytes();
  const TempDir dir;
  const gguf::File whole(dir.write("whole.gguf", bytes));
  const auto first = static_cast<std::size_t>(whole.tensors().front().offset);
  Noise noise(20);
  std::size_t n_refused = 0;
  for (int round = 0; round < 150; ++round) {
    auto damaged = bytes;
    const std::size_t at = noise.bits() % (first - 4);
    if (round % 3 == 0) {
      std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte{0xFF});
    } else {
      damaged[at] ^= std::byte{1} << (noise.bits() % 8);
    }
    const auto file = dir.write("damaged.gguf", damaged);
    for (const auto* program : {"inspect", "logits", "chat"}) {
      CAPTURE(program, at, round);
      const Ended ended = run_on(program, file);
      CAPTURE(ended.err);
      CHECK((ended.exit_code == 0 || (ended.exit_code == 1 && contains(ended.err, "damaged.gguf: "))));
      CHECK(std::ranges::count(ended.err, '\n') <= 1);  // a sanitizer would say more
      n_refused += ended.exit_code == 1 ? 1 : 0;
    }
  }
  CHECK(n_refused > 100);
  CHECK(n_refused < 400);  // so both were tried
}

TEST_CASE("a missing, cut or misplaced shard is refused by its name", "[programs][bad_input]") {
  const TempDir dir;
  const auto paths = small_model().write_split(dir.path() / "split", 12);
  REQUIRE(paths.size() > 2);
  for (const auto* program : {"inspect", "logits", "chat"}) {
    CHECK(run_on(program, paths[0]).exit_code == 0);
    check_refused(program, paths[1], "open the first");
  }
  std::filesystem::resize_file(paths[1], std::filesystem::file_size(paths[1]) - 1000);
  for (const auto* program : {"inspect", "logits", "chat"}) {
    const Ended ended = run_on(program, paths[0]);
    CHECK(ended.exit_code == 1);
    CHECK(contains(ended.err, paths[1].filename().string()));
  }
  std::filesystem::remove(paths[1]);
  for (const auto* program : {"inspect", "logits", "chat"}) {
    const Ended ended = run_on(program, paths[0]);
    CHECK(ended.exit_code == 1);
    CHECK(ended.out.empty());
    CHECK(contains(ended.err, paths[1].filename().string() + ": cannot open: No such file"));
    CHECK(std::ranges::count(ended.err, '\n') == 1);
  }
}

TEST_CASE("a model that cannot be run is refused by what it lacks", "[programs][bad_input]") {
  const TempDir dir;
  const auto file = dir.path() / "model.gguf";
  const auto refuse = [&](const gguf::Writer& writer, const std::string& part) {
    writer.write(file);
    check_all_refuse(file, part);
  };
  gguf::Writer foreign = small_model();
  foreign.set("general.architecture", "mamba");
  foreign.set("mamba.block_count", std::uint32_t{2});
  foreign.set("mamba.expert_count", std::uint32_t{8});
  foreign.set("mamba.expert_used_count", std::uint32_t{2});
  refuse(foreign, "architecture 'mamba' is not supported");

  gguf::Writer too_few = small_model();
  too_few.set("qwen3moe.block_count", std::uint32_t{3});
  refuse(too_few, "tensor blk.2.attn_q.weight is missing");
  CHECK(contains(run_on("chat", file).err, "tensor blk.2.ffn_norm.weight is missing"));  // all in one sentence

  gguf::Writer misshapen = small_model();
  misshapen.set("qwen3moe.attention.key_length", std::uint32_t{8});
  refuse(misshapen, "tensor blk.0.attn_q.weight has shape");

  gguf::Writer surplus = small_model();
  surplus.add_tensor("blk.0.attn_q.bias", {32}, quant::TypeId::f32,
                     TinyMoe::packed(Noise(1).values(32), quant::TypeId::f32));
  refuse(surplus, "tensor blk.0.attn_q.bias is not part of");

  gguf::Writer wrong_experts = small_model();
  wrong_experts.set("qwen3moe.expert_count", std::uint32_t{9});
  refuse(wrong_experts, "blk.0.ffn_gate_exps.weight");

  gguf::Writer too_many_used = small_model();
  too_many_used.set("qwen3moe.expert_used_count", std::uint32_t{9});
  refuse(too_many_used, "");

  gguf::Writer no_epsilon = small_model();
  no_epsilon.set("qwen3moe.attention.layer_norm_rms_epsilon", "small");
  refuse(no_epsilon, "layer_norm_rms_epsilon");
}

TEST_CASE("a tensor type outside the registry is refused by tensor and number", "[programs][bad_input]") {
  const TempDir dir;
  RawGguf raw;
  raw.tensor("blk.0.odd.weight", {32, 4}, 4, 0);  // a type that was taken out of the format
  check_all_refuse(dir.write("odd.gguf", raw.bytes()), "blk.0.odd.weight");
  RawGguf unknown;
  unknown.tensor("blk.0.odd.weight", {32, 4}, 999, 0);
  check_all_refuse(dir.write("unknown.gguf", unknown.bytes()), "999");
}

TEST_CASE("a model without experts is refused by the programs that run models", "[programs][bad_input]") {
  const TempDir dir;
  gguf::Writer dense = small_model();
  dense.set("qwen3moe.expert_count", std::uint32_t{0});
  dense.write(dir.path() / "dense.gguf");
  check_refused("chat", dir.path() / "dense.gguf", "expert_count");
  check_refused("logits", dir.path() / "dense.gguf", "expert_count");
}

TEST_CASE("a model that chat cannot talk with still gives logits", "[programs][bad_input]") {
  const TempDir dir;
  const auto file = dir.path() / "mute.gguf";
  const auto check = [&](const gguf::Writer& writer, const std::string& part) {
    writer.write(file);
    const Ended chat = run_on("chat", file);
    CHECK(chat.exit_code == 1);
    CHECK(chat.out.empty());
    CHECK(contains(chat.err, "mute.gguf: "));
    CHECK(contains(chat.err, part));
    CHECK(std::ranges::count(chat.err, '\n') == 1);
    for (const auto* program : {"inspect", "logits"}) CHECK(run_on(program, file).exit_code == 0);
  };
  check(TinyMoe{}.writer(), "no_vocab");
  gguf::Writer strange = small_model();
  strange.set("tokenizer.ggml.pre", "klingon");
  check(strange, "klingon");
  gguf::Writer unspoken = small_model();
  unspoken.set("tokenizer.chat_template", "{{ messages[0].content }}, he said.");
  check(unspoken, "--chat-template");
}

TEST_CASE("weights that are no numbers end in an error, not in nonsense", "[programs][bad_input]") {
  const TempDir dir;
  const auto file = dir.path() / "nan.gguf";
  gguf::Writer writer = small_model();
  const std::string name = GENERATE(as<std::string>(), "output_norm.weight", "blk.0.ffn_norm.weight");
  // A file is known by its bytes: put NaN where the tensor lies.
  auto bytes = writer.bytes();
  const gguf::File model(dir.write("good.gguf", bytes));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto offset = static_cast<std::size_t>(model.find(name)->offset);
  for (std::size_t i = 0; i < 32; ++i) std::memcpy(bytes.data() + offset + 4 * i, &nan, sizeof(nan));
  (void)dir.write("nan.gguf", bytes);

  check_refused("chat", file, "not a finite number");
  check_refused("logits", file, "not finite numbers");
  CHECK(run_on("inspect", file).exit_code == 0);
}

}  // namespace lazymoe::test
