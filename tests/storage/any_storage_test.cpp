#include <lazymoe/storage/any_storage.hpp>

#include <lazymoe/storage/registry.hpp>

#include "async_laws.hpp"
#include "storage_laws.hpp"
#include "support/catch.hpp"
#include "support/deferred_storage.hpp"

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

namespace {

/// AnyStorage with something asynchronous behind it.
struct AnyDeferred : storage::AnyStorage {
  explicit AnyDeferred(std::span<const std::filesystem::path> paths)
      : storage::AnyStorage(test::DeferredStorage(paths)) {}
};

}  // namespace

TEST_CASE("AnyStorage is asynchronous when what is behind it is", "[storage][any]") {
  test::check_async_laws<test::DeferredStorage>();
  test::check_async_laws<AnyDeferred>();
  const test::ShardFixture files;
  CHECK(storage::asynchronous(AnyDeferred(files.paths)));
  CHECK_FALSE(storage::asynchronous(storage::make_storage("pread", files.paths)));
  CHECK_FALSE(storage::asynchronous(storage::Pread(files.paths)));
  CHECK(storage::asynchronous(test::DeferredStorage(files.paths)));
}

}  // namespace lazymoe
