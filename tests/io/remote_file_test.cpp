#include <lazymoe/io/remote_file.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/http_server.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"

namespace lazymoe::io {

namespace {

constexpr std::size_t size = 50'000;

/// A folder with one file in it, named "file".
class OneFile : public test::TempDir {
 public:
  OneFile() : content(size) {
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<std::byte>(i * 7 % 253);
    (void)write("file", content);
  }
  std::vector<std::byte> content;
};

/// Quick to give up.
HttpOptions impatient() {
  HttpOptions options;
  options.stall_timeout = std::chrono::seconds(1);
  options.retries = 2;
  options.first_pause = std::chrono::milliseconds(1);
  return options;
}

bool reads_right(const RemoteFile& file, const OneFile& folder, std::size_t offset, std::size_t bytes) {
  std::vector<std::byte> into(bytes);
  file.read_exact_at(offset, into);
  return std::equal(into.begin(), into.end(), folder.content.begin() + static_cast<std::ptrdiff_t>(offset));
}

/// What becomes of reading 1000 bytes at offset 100 from a server with this fault.
Error failure(const std::string& fault) {
  const OneFile folder;
  const test::FaultyServer server(folder.path(), fault);
  const RemoteFiles files(impatient());
  const Error error = test::error_of([&] {
    const RemoteFile file = files.open(server.url() + "/file");
    std::vector<std::byte> into(1000);
    for (int i = 0; i < 3; ++i) file.read_exact_at(100, into);
  });
  CHECK(error.code() == Errc::io);
  CHECK(std::string(error.what()).find(server.url() + "/file: cannot ") == 0);
  return error;
}

bool is_failure_of_read(const Error& error, const std::string& why) {
  CAPTURE(error.what());
  CHECK(test::mentions(error, "cannot read 1000 bytes at offset 100: " + why));
  return test::mentions(error, why);
}

}  // namespace

TEST_CASE("A remote file is read in any order by any thread", "[io][remote]") {
  if (test::no_nginx()) return;
  const OneFile folder;
  const test::Nginx server(folder.path());
  const RemoteFiles files(impatient());
  const RemoteFile file = files.open(server.url() + "/file");
  CHECK(file.path() == server.url() + "/file");
  CHECK(file.bytes() == size);
  CHECK(reads_right(file, folder, 0, size));
  CHECK(reads_right(file, folder, size - 1, 1));
  CHECK(reads_right(file, folder, size, 0));

  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 25; ++i) wrong += reads_right(file, folder, 1000 * t + 17 * i, 100 * i) ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);

  INFO("what was transferred is what was asked for, and connections are used again");
  const Traffic traffic = files.traffic();
  Bytes bodies = 0;
  std::set<std::string> connections;
  for (const auto& request : server.requests()) {
    bodies += request.bytes;
    connections.insert(request.connection);
  }
  CHECK(traffic.requests == server.requests().size());
  CHECK(traffic.bytes > bodies);
  CHECK(traffic.bytes < bodies + 1000 * traffic.requests);
  CHECK(connections.size() <= 8);
  CHECK(traffic.from_cache == 0);
}

TEST_CASE("A URL is opened once", "[io][remote]") {
  const OneFile folder;
  const test::FaultyServer server(folder.path(), "none");
  const RemoteFiles files(impatient());
  const RemoteFiles same = files;
  CHECK(files.open(server.url() + "/file").bytes() == size);
  CHECK(same.open(server.url() + "/file").bytes() == size);
  CHECK(files.traffic().requests == 1);
}

TEST_CASE("Redirects are followed, and where they led is remembered", "[io][remote]") {
  if (test::no_nginx()) return;
  const OneFile folder;
  const test::Nginx server(folder.path());
  const RemoteFiles files(impatient());
  const RemoteFile file = files.open(server.url() + "/moved/file");
  for (std::size_t i = 0; i < 5; ++i) CHECK(reads_right(file, folder, i, 1000));
  const auto requests = server.requests();
  CHECK(std::ranges::count(requests, 302, &test::Nginx::Request::status) == 1);
  CHECK(std::ranges::count(requests, 206, &test::Nginx::Request::status) == 6);

  const Error error = test::error_of([&] { (void)files.open(server.url() + "/loop"); });
  CHECK(error.code() == Errc::io);
  CHECK(test::mentions(error, "/loop: cannot open: "));
}

TEST_CASE("Links that run out are asked for again", "[io][remote]") {
  const OneFile folder;
  const test::FaultyServer server(folder.path(), "forgets");
  const RemoteFiles files(impatient());
  const RemoteFile file = files.open(server.url() + "/file");
  for (std::size_t i = 0; i < 9; ++i) CHECK(reads_right(file, folder, 10 * i, 1000));
}

TEST_CASE("Failures that pass are overcome", "[io][remote]") {
  const OneFile folder;
  const auto fault = GENERATE(values<std::string>({"busy-twice", "short-once", "dateless", "none"}));
  CAPTURE(fault);
  const test::FaultyServer server(folder.path(), fault);
  const RemoteFile file = RemoteFiles(impatient()).open(server.url() + "/file");
  for (std::size_t i = 0; i < 3; ++i) CHECK(reads_right(file, folder, 100 * i, 1000));
}

TEST_CASE("A server that ignores ranges is refused at once", "[io][remote]") {
  CHECK(test::mentions(failure("whole"), "/file: cannot open: the server ignores ranges and would send the whole file"));
}

TEST_CASE("What lasts is an error of one sentence", "[io][remote]") {
  CHECK(test::mentions(failure("busy"), "cannot open: the server answers 503, also when asked again (3 times in all)"));
  CHECK(is_failure_of_read(failure("short"), "the connection closed after "));
  CHECK(is_failure_of_read(failure("shifted"), "the server sends the bytes from 101 to 1101 instead"));
  CHECK(is_failure_of_read(failure("longer"), "the server sends more bytes than it was asked for"));
  CHECK(test::mentions(failure("nameless"), "cannot open: the server does not say which bytes of how many it sends"));
  CHECK(test::mentions(failure("unknown"), "cannot open: the server does not say which bytes of how many it sends"));
  CHECK(is_failure_of_read(failure("silent"), "the server says nothing, also when asked again"));
}

TEST_CASE("A file that changes while it is read is an error", "[io][remote]") {
  CHECK(is_failure_of_read(failure("changes"), "the file has changed on the server since it was opened"));
  CHECK(is_failure_of_read(failure("grows"), "the file has changed on the server since it was opened"));
}

TEST_CASE("A file that cannot be opened is named", "[io][remote]") {
  const OneFile folder;
  const test::FaultyServer server(folder.path(), "none");
  const RemoteFiles files(impatient());
  CHECK(test::mentions(test::error_of([&] { (void)files.open(server.url() + "/absent"); }),
                       server.url() + "/absent: cannot open: the server answers 404 (not found)"));
  CHECK(test::mentions(test::error_of([&] { (void)files.open("http://127.0.0.1:1/file"); }),
                       "http://127.0.0.1:1/file: cannot open: "));
  CHECK(test::mentions(test::error_of([&] { (void)files.open("/etc/hostname"); }),
                       "/etc/hostname: is not a URL of http or https"));
}

TEST_CASE("With a folder for it, what was read once is not asked for again", "[io][remote]") {
  if (test::no_nginx()) return;
  const OneFile folder;
  const test::TempDir cache;
  const test::Nginx server(folder.path());
  const auto read = [&] {
    const RemoteFiles files(impatient(), cache.path());
    const RemoteFile file = files.open(server.url() + "/file");
    for (std::size_t i = 0; i < 5; ++i) CHECK(reads_right(file, folder, 5000 * i, 5000));
    return files.traffic();
  };
  const Traffic first = read();
  CHECK(first.requests == 6);
  CHECK(first.from_cache == 0);
  const Traffic second = read();
  CHECK(second.requests == 1);  // whether the file is still the same
  CHECK(second.bytes < 1000);
  CHECK(second.from_cache == 25'000);

  INFO("the file of tomorrow is another file");
  std::filesystem::last_write_time(folder.path() / "file",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(24));
  CHECK(read().requests == 6);
}

TEST_CASE("A file that nothing tells from a changed one is not kept", "[io][remote]") {
  const OneFile folder;
  const test::TempDir cache;
  const test::FaultyServer server(folder.path(), "dateless");
  for (int i = 0; i < 2; ++i) {
    const RemoteFiles files(impatient(), cache.path());
    CHECK(reads_right(files.open(server.url() + "/file"), folder, 0, 1000));
    CHECK(files.traffic().requests == 2);
  }
  CHECK(std::filesystem::is_empty(cache.path()));
}

}  // namespace lazymoe::io
