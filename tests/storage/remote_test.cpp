#include <lazymoe/storage/remote.hpp>

#include <optional>

#include "storage_laws.hpp"
#include "support/catch.hpp"
#include "support/http_server.hpp"
#include "support/throws.hpp"

namespace lazymoe {

namespace {

/// The files behind a server: their paths are URLs.
struct ServedShards : test::ShardFixture {
  ServedShards() : server(folder) {
    root = server.url();
    for (auto& path : paths) path = root / path.filename();
  }
  test::Nginx server;
};

}  // namespace

TEST_CASE("Remote obeys the laws of a storage", "[storage][remote]") {
  if (test::no_nginx()) return;
  test::check_storage_laws<storage::Remote, ServedShards>();
}

TEST_CASE("Remote names the URL and the offset when the server is gone", "[storage][remote]") {
  if (test::no_nginx()) return;
  ServedShards files;
  io::HttpOptions options;
  options.retries = 1;
  options.first_pause = std::chrono::milliseconds(1);
  const storage::Remote remote(files.paths, io::RemoteFiles(options));
  files.server.stop();
  std::vector<std::byte> scratch(50);
  const Error error = test::error_of([&] { (void)remote.fetch({.shard = 1, .offset = 60, .bytes = 50}, scratch); });
  CHECK(error.code() == Errc::io);
  CHECK(std::string(error.what()).find(files.paths[1].string() + ": cannot read 50 bytes at offset 60: ") == 0);
}

TEST_CASE("Remote notices that a file is another than the one whose header was read", "[storage][remote]") {
  if (test::no_nginx()) return;
  const ServedShards files;
  const io::RemoteFiles server;
  (void)server.open(files.paths[1]);
  std::filesystem::resize_file(files.folder / "shard-1", 10'000);
  const storage::Remote remote(files.paths, server);
  std::vector<std::byte> scratch(50);
  CHECK(remote.fetch({.shard = 0, .offset = 60, .bytes = 50}, scratch).size() == 50);
  CHECK(test::mentions(test::error_of([&] { (void)remote.fetch({.shard = 1, .offset = 60, .bytes = 50}, scratch); }),
                       "the file has changed on the server since it was opened"));
}

}  // namespace lazymoe
