#include <lazymoe/storage/mmap.hpp>

#include "storage_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("Mmap obeys the laws of a storage", "[storage][mmap]") { test::check_storage_laws<storage::Mmap>(); }

TEST_CASE("A view of a mapping reads the same after its pages were given back", "[storage][mmap]") {
  const test::ShardFixture files;
  const storage::Mmap mmap(files.paths);
  const experts::SliceRef slice{.shard = 0, .offset = 5, .bytes = 60'000};
  const auto view = mmap.fetch(slice, {});
  const std::vector<std::byte> first(view.begin(), view.end());
  mmap.discard(slice);
  CHECK(std::ranges::equal(view, first));
}

}  // namespace lazymoe
