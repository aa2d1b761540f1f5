#include <lazymoe/storage/any_storage.hpp>

#include <lazymoe/storage/registry.hpp>

#include "storage_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("AnyStorage obeys the laws of a storage", "[storage][any]") {
  test::check_storage_laws<storage::AnyStorage>();
}

TEST_CASE("Every storage reads behind AnyStorage as it does itself", "[storage][any]") {
  const test::ShardFixture files;
  const experts::SliceRef slice{.shard = 0, .offset = 3, .bytes = 20};
  for (const std::string_view name : storage::storage_names()) {
    CAPTURE(name);
    storage::AnyStorage any = storage::make_storage(name, files.paths);
    CHECK(test::fetches_right(any, files, slice));
    any.discard(slice);
    CHECK(test::fetches_right(any, files, slice));
  }
}

}  // namespace lazymoe
