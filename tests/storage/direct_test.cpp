#include <lazymoe/storage/direct.hpp>

#include <fcntl.h>

#include <lazymoe/storage/faulty.hpp>

#include "storage_laws.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe {

TEST_CASE("Direct obeys the laws of a storage", "[storage][direct]") { test::check_storage_laws<storage::Direct>(); }

TEST_CASE("Direct goes through the page cache where the system refuses direct reads, and says so",
          "[storage][direct]") {
  // /proc is regular files that cannot be opened so.
  const std::vector<std::filesystem::path> paths{"/proc/version"};
  const storage::Direct direct(paths);
  REQUIRE(direct.notes().size() == 1);
  CHECK(direct.notes()[0] == "/proc/version: the file system refuses direct reads; they go through the page cache");

  const test::ShardFixture files;
  const auto refuses = [](int descriptor, std::span<std::byte> into, off_t offset) -> ssize_t {
    if ((::fcntl(descriptor, F_GETFL) & O_DIRECT) == 0) return io::SystemRead{}(descriptor, into, offset);
    errno = EINVAL;
    return -1;
  };
  storage::BasicDirect strict(files.paths, refuses);
  CHECK(test::fetches_right(strict, files, {.shard = 0, .offset = 5000, .bytes = 20'000}));
}

TEST_CASE("Direct finishes what ended within a block through the page cache", "[storage][direct]") {
  const test::ShardFixture files;
  const auto odd = [](int descriptor, std::span<std::byte> into, off_t offset) -> ssize_t {
    return std::min<ssize_t>(io::SystemRead{}(descriptor, into, offset), 4096 + 17);
  };
  storage::BasicDirect direct(files.paths, odd);
  CHECK(test::fetches_right(direct, files, {.shard = 0, .offset = 5000, .bytes = 20'000}));
}

TEST_CASE("Direct reports a file that has shrunk since it was opened", "[storage][direct]") {
  const test::ShardFixture files;
  const storage::Direct direct(files.paths);
  std::filesystem::resize_file(files.paths[1], 100);
  std::vector<std::byte> scratch(50 + storage::detail::DirectFiles::padding);
  CHECK(direct.fetch({.shard = 1, .offset = 50, .bytes = 50}, scratch).size() == 50);
  const Error error = test::error_of([&] { (void)direct.fetch({.shard = 1, .offset = 60, .bytes = 50}, scratch); });
  CHECK(error.code() == Errc::io);
  CHECK(std::string(error.what()).find(files.paths[1].string()) == 0);
}

}  // namespace lazymoe
