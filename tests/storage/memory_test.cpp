#include <lazymoe/storage/memory.hpp>

#include "storage_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("Memory obeys the laws of a storage", "[storage][memory]") { test::check_storage_laws<storage::Memory>(); }

TEST_CASE("Memory needs the files only while it is made", "[storage][memory]") {
  const test::ShardFixture files;
  storage::Memory memory(files.paths);
  for (const auto& path : files.paths) std::filesystem::resize_file(path, 0);
  CHECK(test::fetches_right(memory, files, {.shard = 0, .offset = 1, .bytes = 70'000}));
}

}  // namespace lazymoe
