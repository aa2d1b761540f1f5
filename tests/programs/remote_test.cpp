#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "programs/chat_model.hpp"
#include "support/catch.hpp"
#include "support/http_server.hpp"
#include "support/program.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::test {

namespace {

const std::string name = "/tiny-factbook-q4_k_m.gguf";
const std::vector<std::string> question{"--tokens", "4094,100,200,300", "--budget", "8experts"};

Ended logits(const std::string& model, std::vector<std::string> more = {}) {
  more.insert(more.begin(), question.begin(), question.end());
  more.insert(more.begin(), model);
  return run_program("logits", more);
}

std::uint64_t sent(const Nginx& server) {
  std::uint64_t bytes = 0;
  for (const auto& request : server.requests()) bytes += request.bytes;
  return bytes;
}

}  // namespace

TEST_CASE("a model at a URL gives the same logits, and only a part of it is transferred", "[programs][remote]") {
  if (no_nginx()) return;
  const Nginx server(LAZYMOE_MODELS_DIR);
  const Ended local = logits(bundled_model);
  CHECK(local.exit_code == 0);
  const Ended remote = logits(server.url() + name);
  CHECK(remote.exit_code == 0);
  CHECK(remote.out == local.out);
  CHECK(contains(remote.err, "[transferred "));
  CHECK(sent(server) > 0);
  CHECK(sent(server) < std::filesystem::file_size(bundled_model) / 2);

  CHECK(logits(server.url() + "/moved" + name, {"--threads", "1", "--batch", "1"}).out == local.out);
  CHECK(logits(server.url() + name, {"--eviction", "lru"}).out == local.out);
}

TEST_CASE("a model at a URL comes from the disk the second time, when there is a folder for it", "[programs][remote]") {
  if (no_nginx()) return;
  const Nginx server(LAZYMOE_MODELS_DIR);
  const TempDir cache;
  const Ended first = logits(server.url() + name, {"--url-cache", cache.path().string(), "--prefetch", "none"});
  const auto once = sent(server);
  const Ended second = logits(server.url() + name, {"--url-cache", cache.path().string(), "--prefetch", "none"});
  CHECK(first.exit_code == 0);
  CHECK(second.out == first.out);
  CHECK(sent(server) == once + 1);  // its first byte, which says that the file is still the same
  CHECK(contains(second.err, " in 1 request, "));
  CHECK(contains(second.err, " from --url-cache]"));
}

TEST_CASE("a split model at a URL is found by the names of its files", "[programs][remote]") {
  if (no_nginx()) return;
  const TempDir dir;
  const auto paths = chat_model().write_split(dir.path() / "split", 12);
  REQUIRE(paths.size() > 2);
  const Nginx server(dir.path());
  const std::string url = server.url() + "/" + paths[0].filename().string();
  const Ended local = run_program("logits", {paths[0].string(), "--tokens", "1,2,3"});
  CHECK(local.exit_code == 0);
  CHECK(run_program("logits", {url, "--tokens", "1,2,3"}).out == local.out);
  std::filesystem::remove(paths[1]);
  const Ended missing = run_program("logits", {url, "--tokens", "1,2,3"});
  CHECK(missing.exit_code == 1);
  CHECK(contains(missing.err, paths[1].filename().string() + ": cannot open: the server answers 404 (not found); it is shard 2 of"));
}

TEST_CASE("inspect reads no more of a URL than the header", "[programs][remote]") {
  if (no_nginx()) return;
  const Nginx server(LAZYMOE_MODELS_DIR);
  const Ended remote = run_program("inspect", {server.url() + name});
  CHECK(remote.exit_code == 0);
  CHECK(contains(remote.out, "\ntransferred "));
  CHECK(inspected(remote.out, "experts") > 0);
  CHECK(sent(server) < std::uint64_t{1} << 20);
}

TEST_CASE("chat answers from a URL and says what that took", "[programs][remote]") {
  if (no_nginx()) return;
  const Nginx server(LAZYMOE_MODELS_DIR);
  const Ended ended = run_program("chat", {server.url() + name, "-p", "What is the capital of Kenya?", "--stats"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == "The capital of Kenya is Nairobi.\n");
  CHECK(contains(ended.err, "; transferred "));
}

TEST_CASE("what is wrong with a URL is one sentence", "[programs][remote]") {
  const TempDir dir;
  std::filesystem::copy_file(bundled_model, dir.path() / "model.gguf");
  const auto [fault, file, part] = GENERATE(table<std::string, std::string, std::string>({
      {"none", "/absent.gguf", "/absent.gguf: cannot open: the server answers 404 (not found)"},
      {"whole", "/model.gguf", "/model.gguf: cannot open: the server ignores ranges and would send the whole file"},
      {"changes", "/model.gguf", ": the file has changed on the server since it was opened"},
      {"shifted", "/model.gguf", "/model.gguf: cannot read 262144 bytes at offset 0: the server sends the bytes from 1"},
  }));
  CAPTURE(fault);
  for (const std::string program : {"inspect", "logits", "chat"}) {
    if (program == "inspect" && fault == "changes") continue;  // it is over before
    const FaultyServer server(dir.path(), fault);              // it counts requests
    std::vector<std::string> arguments{server.url() + file};
    if (program == "logits") arguments.insert(arguments.end(), {"--tokens", "1"});
    const Ended ended = run_program(program, arguments);
    CAPTURE(program, ended.err);
    CHECK(ended.exit_code == 1);
    CHECK(ended.out.empty());
    CHECK(ended.err.find('\n') == ended.err.size() - 1);
    CHECK(contains(ended.err, server.url() + file));
    CHECK(contains(ended.err, part));
  }
}

TEST_CASE("a storage is not chosen for a URL", "[programs][remote]") {
  const Ended ended = run_program("logits", {"http://127.0.0.1:1/m.gguf", "--tokens", "1", "--storage", "direct"});
  CHECK(ended.exit_code == 1);
  CHECK(contains(ended.err, "--storage: is for files"));
}

}  // namespace lazymoe::test
