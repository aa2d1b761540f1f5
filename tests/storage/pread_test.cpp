#include <lazymoe/storage/pread.hpp>

#include "storage_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("Pread obeys the laws of a storage", "[storage][pread]") { test::check_storage_laws<storage::Pread>(); }

TEST_CASE("Pread reports a file that has shrunk since it was opened", "[storage][pread]") {
  const test::ShardFixture files;
  const storage::Pread pread(files.paths);
  std::filesystem::resize_file(files.paths[1], 100);
  std::vector<std::byte> scratch(50);
  CHECK(pread.fetch({.shard = 1, .offset = 50, .bytes = 50}, scratch).size() == 50);
  try {
    (void)pread.fetch({.shard = 1, .offset = 60, .bytes = 50}, scratch);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::io);
    CHECK(std::string(error.what()).find(files.paths[1].string()) == 0);
  }
}

}  // namespace lazymoe
