#include <lazymoe/models/weight_storage.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include <lazymoe/storage/direct.hpp>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::models {

TEST_CASE("Weights are read through the storage that was named", "[models]") {
  const test::TempDir dir;
  const std::vector<std::byte> content(5000, std::byte{7});
  const std::array paths{dir.write("shard", content)};
  const experts::SliceRef slice{.shard = 0, .offset = 10, .bytes = 4000};
  const auto check = [&](const WeightStorage& how, Bytes footprint) {
    storage::AnyStorage storage = how.open(paths);
    std::vector<std::byte> scratch(static_cast<std::size_t>(storage.footprint(slice)));
    CHECK(scratch.size() == footprint);
    CHECK(std::ranges::equal(storage.fetch(slice, scratch), std::span(content).first(4000)));
  };
  check(WeightStorage::read, 4000);
  check(WeightStorage::mmap, 0);
  check(WeightStorage::by<storage::Direct>(), 4000 + storage::detail::DirectFiles::padding);
}

}  // namespace lazymoe::models
