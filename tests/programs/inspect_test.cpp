#include <cstddef>
#include <cstdint>
#include <string>

#include <lazymoe/gguf/file.hpp>
#include <lazymoe/gguf/writer.hpp>
#include <lazymoe/models/memory.hpp>

#include "programs/chat_model.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::test {

TEST_CASE("inspect names metadata, tensors, experts and bytes", "[programs][inspect]") {
  const Ended ended = run_program("inspect", {bundled_model});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  for (const auto* part : {"tiny-factbook-q4_k_m.gguf: 1 file, header of", "general.architecture = qwen3moe",
                           "qwen3moe.expert_count = u32 32", "tokenizer.ggml.tokens = array of 4096 string",
                           "Q4_K        38  18.60 MiB", "experts: 32 in each of 6 layers, 4 used per token",
                           "layer   2  gate Q4_K [256, 256] at 0:10206848", "one expert 127488 bytes"}) {
    CAPTURE(part);
    CHECK(contains(ended.out, part));
  }
}

TEST_CASE("the bytes that inspect prints add up", "[programs][inspect]") {
  const std::string out = run_program("inspect", {bundled_model}).out;
  const gguf::File file(bundled_model);
  Bytes all = 0;
  for (const auto& tensor : file.tensors()) all += tensor.bytes;
  CHECK(inspected(out, "all tensors") == all);
  CHECK(inspected(out, "experts") == 32 * (4 * 110592 + 2 * 127488));
  CHECK(inspected(out, "resident (not experts)") == all - inspected(out, "experts"));
  CHECK(inspected(out, "experts one token uses") == 4 * (4 * 110592 + 2 * 127488));
  CHECK(inspected(out, "smallest --budget") == 4 * (110592 + 127488));
  CHECK(inspected(out, "--budget for everything") == inspected(out, "experts"));
  CHECK(inspected(out, "keys and values") == 6 * 512 * 2 * 128 * 2);  // layers, positions, K and V, width, bytes
  CHECK(inspected(out, "at the smallest --budget") == inspected(out, "resident (not experts)") +
                                                          inspected(out, "keys and values") +
                                                          inspected(out, "smallest --budget"));
  const auto recommended = inspected(out, "recommended --budget");
  CHECK(recommended > inspected(out, "smallest --budget"));
  CHECK(recommended < inspected(out, "experts"));

  const std::string shorter = run_program("inspect", {bundled_model, "--context", "64"}).out;
  CHECK(contains(shorter, "a context of 64 tokens"));
  CHECK(inspected(shorter, "keys and values") == inspected(out, "keys and values") / 8);
}

TEST_CASE("inspect counts blocks of next-token prediction apart", "[programs][inspect]") {
  const std::string model = LAZYMOE_GOLDEN_DIR "/models/glm-flash/Q8_0.gguf";
  const std::string out = run_program("inspect", {model}).out;
  const gguf::File file(model);
  const auto needs = models::memory_needs(file, {});
  CHECK(inspected(out, "resident (not experts)") == needs.weights);
  CHECK(inspected(out, "blocks that do not run") > 0);
  CHECK(inspected(out, "all tensors") == inspected(out, "resident (not experts)") + inspected(out, "experts") +
                                             inspected(out, "blocks that do not run"));
  CHECK(inspected(out, "at the smallest --budget") ==
        needs.weights + inspected(out, "keys and values") + inspected(out, "smallest --budget"));
}

TEST_CASE("one byte less than the smallest budget that inspect names is refused", "[programs][inspect]") {
  const auto smallest = inspected(run_program("inspect", {bundled_model}).out, "smallest --budget");
  const auto chat = [](std::uint64_t budget) {
    return run_program("chat", {bundled_model, "-p", "Hello!", "--budget", std::to_string(budget)});
  };
  CHECK(chat(smallest).exit_code == 0);
  const Ended refused = chat(smallest - 1);
  CHECK(refused.exit_code == 1);
  CHECK(refused.out.empty());
  CHECK(contains(refused.err, std::to_string(smallest) + " bytes"));
  CHECK(contains(refused.err, "4 experts of (110592 + 127488) bytes"));
}

TEST_CASE("inspect describes split files and fused experts", "[programs][inspect]") {
  const TempDir dir;
  const auto paths = TinyMoe{.fused_gate_up = true}.writer().write_split(dir.path() / "tiny", 7);
  const Ended ended = run_program("inspect", {paths.front().string()});
  CHECK(ended.exit_code == 0);
  CHECK(contains(ended.out, "tiny-00001-of-0000" + std::to_string(paths.size()) +
                                ".gguf: " + std::to_string(paths.size()) + " files"));
  CHECK(contains(ended.out, "gate Q8_0 [32, 32] at "));
  CHECK(run_program("chat", {paths.front().string(), "-p", "x"}).exit_code == 1);  // it has no vocabulary
}

TEST_CASE("inspect describes files without experts", "[programs][inspect]") {
  const TempDir dir;
  gguf::Writer dense;
  dense.set("general.architecture", "llama");
  dense.set("llama.block_count", std::uint32_t{1});
  dense.add_tensor("token_embd.weight", {32, 4}, quant::TypeId::f32,
                   TinyMoe::packed(Noise(1).values(128), quant::TypeId::f32));
  dense.write(dir.path() / "dense.gguf");
  gguf::Writer vocabulary;
  vocabulary.set("tokenizer.ggml.model", "gpt2");
  vocabulary.write(dir.path() / "vocabulary.gguf");
  gguf::Writer().write(dir.path() / "nothing.gguf");

  for (const auto* name : {"dense.gguf", "vocabulary.gguf", "nothing.gguf"}) {
    CAPTURE(name);
    const Ended ended = run_program("inspect", {(dir.path() / name).string()});
    CHECK(ended.exit_code == 0);
    CHECK(ended.err.empty());
    CHECK(contains(ended.out, "metadata\n"));
    CHECK(contains(ended.out, "tensors\n"));
    CHECK(ended.out.ends_with("experts: none\n"));
  }
}

TEST_CASE("what a file says cannot steer the terminal", "[programs][inspect]") {
  const TempDir dir;
  gguf::Writer writer;
  writer.set("general.name", "a\x1b[2Jb\nc\rd\x7f");
  writer.set("odd\nkey\x1b", "x");
  writer.write(dir.path() / "odd.gguf");
  const Ended ended = run_program("inspect", {(dir.path() / "odd.gguf").string()});
  CHECK(contains(ended.out, "  general.name = a [2Jb c d \n"));
  CHECK(contains(ended.out, "  odd key  = x\n"));
  CHECK_FALSE(contains(ended.out, "\x1b"));
}

TEST_CASE("inspect into a full disk is an error", "[programs][inspect]") {
  const Ended ended = run_program("inspect", {bundled_model}, {.output_file = "/dev/full"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err == "standard output: cannot write\n");
}

}  // namespace lazymoe::test
