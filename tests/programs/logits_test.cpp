#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "programs/chat_model.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::test {

namespace {

const std::string tokens = "4094,100,200,300,400,500,600,700,800,900,1000,17,4095";
constexpr std::size_t n_tokens = 13;
constexpr std::size_t n_vocab = 4096;

Ended logits(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), bundled_model);
  return run_program("logits", std::move(arguments));
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// FNV-1a, 64 bits.
std::string hash(const std::string& bytes) {
  std::uint64_t h = 0xCBF29CE484222325U;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[h >> static_cast<unsigned>(shift) & 15U];
  return text + "\n";
}

}  // namespace

TEST_CASE("logits writes rows of floats and prints their hash", "[programs][logits]") {
  const TempDir dir;
  const auto last = dir.path() / "last.f32";
  const auto all = dir.path() / "all.f32";
  const Ended ended = logits({"--tokens", tokens, "--out", last.string()});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.empty());
  CHECK(content(last).size() == n_vocab * sizeof(float));
  CHECK(ended.out == hash(content(last)));

  const Ended every = logits({"--tokens", tokens, "--all", "--out", all.string()});
  CHECK(content(all).size() == n_tokens * n_vocab * sizeof(float));
  CHECK(every.out == hash(content(all)));
  CHECK(content(all).ends_with(content(last)));
}

TEST_CASE("logits are the same bits for every way to hold experts and every batch", "[programs][logits]") {
  const std::string expected = logits({"--tokens", tokens, "--all"}).out;
  CHECK(expected.size() == 17);
  const auto arguments = GENERATE(values<std::vector<std::string>>({
      {"--budget", "8experts"},
      {"--budget", "8experts", "--batch", "1", "--threads", "1", "--eviction", "lru"},
      {"--budget", "3MiB", "--batch", "5", "--eviction", "lfu-aged", "--storage", "mmap"},
      {"--budget", "8experts", "--prefetch", "gate-lookahead", "--lookahead", "3"},
      {"--budget", "20experts", "--prefetch", "same-as-last-token", "--storage", "direct"},
      {"--memory", "40MiB", "--checksums", "first-read"},
      {"--experts", "eager", "--batch", "7", "--threads", "3"},
      {"--experts", "eager", "--storage", "memory", "--batch", "1"},
  }));
  CAPTURE(arguments);
  std::vector<std::string> all{"--tokens", tokens, "--all"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  CHECK(logits(all).out == expected);
}

TEST_CASE("logits --routes writes the chosen experts, a line a layer", "[programs][logits]") {
  const TempDir dir;
  const auto one = dir.path() / "one.jsonl";
  const auto other = dir.path() / "other.jsonl";
  CHECK(logits({"--tokens", tokens, "--routes", one.string()}).exit_code == 0);
  CHECK(logits({"--tokens", tokens, "--routes", other.string(), "--batch", "2", "--budget", "8experts"}).exit_code ==
        0);
  CHECK(content(one) == content(other));
  CHECK(content(one).starts_with(R"({"layer":0,"experts":[[)"));

  std::istringstream lines(content(one));
  std::size_t layer = 0;
  for (std::string line; std::getline(lines, line); ++layer) {
    const auto json = nlohmann::json::parse(line);
    CHECK(json.size() == 2);
    CHECK(json.at("layer") == layer);
    REQUIRE(json.at("experts").size() == n_tokens);
    for (const auto& chosen : json.at("experts")) {
      CHECK(chosen.size() == 4);
      for (const auto& expert : chosen) CHECK(expert.get<int>() < 32);
    }
  }
  CHECK(layer == 6);
}

TEST_CASE("logits do not overwrite the model they come from", "[programs][logits]") {
  const TempDir directory;
  const auto copy = directory.path() / "model.gguf";
  std::filesystem::copy_file(std::string(LAZYMOE_MODELS_DIR) + "/tiny-factbook-q4_k_m.gguf", copy);
  const auto bytes = std::filesystem::file_size(copy);
  for (const std::string option : {"--out", "--routes"}) {
    const Ended ended = run_program("logits", {copy.string(), "--tokens", "1", option, copy.string()});
    CHECK(ended.exit_code == 1);
    CHECK(ended.err.find("would be overwritten") != std::string::npos);
    CHECK(std::filesystem::file_size(copy) == bytes);
  }
}

TEST_CASE("what is wrong with the tokens or the files is one sentence", "[programs][logits]") {
  const auto [arguments, part] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"--all"}, "--tokens"},
      {{"--tokens", ""}, "--tokens"},
      {{"--tokens", "1,,2"}, "1,2,3"},
      {{"--tokens", "1,2,"}, "1,2,3"},
      {{"--tokens", "one"}, "1,2,3"},
      {{"--tokens", "99999999999"}, "1,2,3"},
      {{"--tokens", "4096"}, "4096"},
      {{"--tokens", "-1"}, "-1"},
      {{"--tokens", "1", "--context", "513"}, ".gguf: --context 513 is more than the model allows, which is 512"},
      {{"--tokens", "1", "--experts", "eager", "--budget", "1GiB"}, "--budget: eager experts"},
      {{"--tokens", "1,2,3", "--context", "2"}, "3 tokens do not fit a context of 2"},
      {{"--tokens", "1", "--out", "/nowhere/x.f32"}, "/nowhere/x.f32: cannot write"},
      {{"--tokens", "1", "--routes", "/nowhere/x.jsonl"}, "/nowhere/x.jsonl: cannot write"},
      {{"--tokens", "1", "--out", "/dev/full"}, "/dev/full: cannot write"},
  }));
  CAPTURE(arguments);
  const Ended ended = logits(arguments);
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err.find('\n') == ended.err.size() - 1);
  CHECK(ended.err.find(part) != std::string::npos);
}

}  // namespace lazymoe::test
