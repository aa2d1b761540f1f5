#include <lazymoe/storage/registry.hpp>

#include <string>

#include "storage_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe::storage {

TEST_CASE("Every storage can be chosen by its name and reads", "[storage]") {
  const test::ShardFixture files;
  for (const std::string_view name : storage_names()) {
    CHECK(visit_storage(name, [&](auto chosen) {
      using Storage = typename decltype(chosen)::type;
      Storage storage(files.paths);
      return Storage::name == name && test::fetches_right(storage, files, {.shard = 1, .offset = 3, .bytes = 99});
    }));
  }
}

TEST_CASE("An unknown storage is refused and the known ones are listed", "[storage]") {
  try {
    visit_storage("tape", [](auto) {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::bad_argument);
    CHECK(std::string(error.what()) == "storage \"tape\" is not one of memory mmap pread direct");
  }
}

}  // namespace lazymoe::storage
