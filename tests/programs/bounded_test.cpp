#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <lazymoe/core/types.hpp>

#include "programs/chat_model.hpp"
#include "support/catch.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::test {

// Sanitizers keep memory of their own.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LAZYMOE_TEST_SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LAZYMOE_TEST_SANITIZED
#endif
#ifndef LAZYMOE_TEST_SANITIZED

TEST_CASE("chat stays within weights, keys and values, budget and 32 MiB", "[programs][bounded]") {
  using namespace lazymoe::literals;
  const TempDir dir;
  const std::string path = (dir.path() / "small.gguf").string();
  chat_model({.n_layers = 8,
              .n_embd = 512,
              .n_heads = 8,
              .n_kv_heads = 2,
              .head_dim = 64,
              .n_experts = 32,
              .n_used = 4,
              .n_ff = 256,
              .n_vocab = 2048,
              .n_ctx = 8192,
              .expert_type = quant::TypeId::q4_0,
              .first_down_type = quant::TypeId::q8_0,
              .dense_type = quant::TypeId::q8_0})
      .write(path);

  const std::string inspect = run_program("inspect", {path}).out;
  const Bytes experts = inspected(inspect, "experts");
  const Bytes smallest = inspected(inspect, "smallest --budget");
  const Bytes fixed = inspected(inspect, "resident (not experts)") + inspected(inspect, "keys and values");
  REQUIRE(experts > 50_MiB);
  REQUIRE(fixed > 1_MiB);

  const auto chat = [&](const std::string& option, const std::string& value) {
    return run_program("chat", {path, "-p", "Tell me everything.", "--temp", "1", "--max-tokens", "100", option, value});
  };
  std::string answer;
  for (const Bytes budget : {smallest, experts / 4, experts / 2}) {
    CAPTURE(budget);
    const Ended ended = chat("--budget", std::to_string(budget));
    REQUIRE(ended.exit_code == 0);
    CHECK(ended.out.size() > 100);
    if (answer.empty()) answer = ended.out;
    CHECK(ended.out == answer);
    CHECK(ended.peak_rss < fixed + budget + 32_MiB);
    CHECK(ended.peak_rss > budget);
  }
  for (const Bytes memory : {fixed + experts / 4 + 48_MiB, fixed + experts / 2 + 48_MiB}) {
    CAPTURE(memory);
    const Ended ended = chat("--memory", std::to_string(memory));
    REQUIRE(ended.exit_code == 0);
    CHECK(ended.out == answer);
    CHECK(ended.peak_rss < memory);
    CHECK(ended.peak_rss > memory - 40_MiB);  // and it is made use of
  }
  CHECK(chat("--memory", "auto").out == answer);
  const Ended too_little = chat("--memory", std::to_string(fixed));
  CHECK(too_little.exit_code == 1);
  CHECK(contains(too_little.err, "is too little: program 20.00 MiB"));

  const Ended eager = chat("--experts", "eager");
  CHECK(eager.out == answer);
  CHECK(eager.peak_rss > experts);  // so the measure measures

  const Ended refused = chat("--budget", std::to_string(smallest - 1));
  CHECK(refused.exit_code == 1);
  CHECK(refused.out.empty());
  CHECK(refused.err.find(std::to_string(smallest) + " bytes") != std::string::npos);
  CHECK(refused.err.find("one layer uses 4 experts of (") != std::string::npos);
}

TEST_CASE("files that a storage would read whole are refused before they are read", "[programs][bounded]") {
  using namespace lazymoe::literals;
  const TempDir scratch;
  const auto grown = scratch.path() / "grown.gguf";
  std::filesystem::copy_file(bundled_model, grown);
  std::filesystem::resize_file(grown, std::filesystem::file_size(grown) + 300_MiB);
  const Ended ended = run_program("chat", {grown.string(), "-p", "hello", "--storage", "memory", "--memory", "40MiB"});
  CHECK(ended.exit_code == 1);
  CHECK(contains(ended.err, " + whole files 323."));
  CHECK(ended.peak_rss < 40_MiB);
}

#endif

}  // namespace lazymoe::test
