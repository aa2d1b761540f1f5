#include <lazymoe/storage/uring.hpp>

#include "async_laws.hpp"
#include "storage_laws.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe {

TEST_CASE("Uring obeys the laws of a storage", "[storage][uring]") { test::check_storage_laws<storage::Uring>(); }

TEST_CASE("Uring obeys the laws of an asynchronous storage", "[storage][uring]") {
  test::check_async_laws<storage::Uring>();
}

TEST_CASE("Uring needs no more than one read under way", "[storage][uring]") {
  const test::ShardFixture files;
  storage::Uring uring(files.paths, 1);
  CHECK(uring.notes().empty());
  for (Bytes offset = 0; offset < 60'000; offset += 1111) {
    CHECK(test::fetches_right(uring, files, {.shard = 0, .offset = offset, .bytes = 9999}));
  }
}

TEST_CASE("Uring reports a file that has shrunk since it was opened", "[storage][uring]") {
  const test::ShardFixture files;
  storage::Uring uring(files.paths);
  std::filesystem::resize_file(files.paths[1], 100);
  std::vector<std::byte> scratch(50 + storage::detail::DirectFiles::padding);
  CHECK(uring.fetch({.shard = 1, .offset = 50, .bytes = 50}, scratch).size() == 50);
  const Error error = test::error_of([&] { (void)uring.fetch({.shard = 1, .offset = 60, .bytes = 50}, scratch); });
  CHECK(error.code() == Errc::io);
  CHECK(std::string(error.what()).find(files.paths[1].string()) == 0);
}

}  // namespace lazymoe
