#include <lazymoe/storage/detail/shards.hpp>

#include <limits>

#include "storage/shard_fixture.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::storage::detail {

TEST_CASE("A slice is inside if its last byte is, whatever its numbers add up to", "[storage]") {
  const test::ShardFixture fixture;
  const Shards shards(fixture.paths);
  CHECK(shards.files().size() == 2);
  CHECK(shards.contains({.shard = 0, .offset = 0, .bytes = 70'001}));
  CHECK_FALSE(shards.contains({.shard = 0, .offset = 0, .bytes = 70'002}));
  CHECK(shards.contains({.shard = 1, .offset = 20'002, .bytes = 1}));
  CHECK(shards.contains({.shard = 1, .offset = 20'003, .bytes = 0}));
  CHECK_FALSE(shards.contains({.shard = 1, .offset = 20'003, .bytes = 1}));
  CHECK_FALSE(shards.contains({.shard = 1, .offset = 20'004, .bytes = 0}));
  constexpr Bytes most = std::numeric_limits<Bytes>::max();
  CHECK_FALSE(shards.contains({.shard = 0, .offset = 2, .bytes = most}));
  CHECK_FALSE(shards.contains({.shard = 0, .offset = most, .bytes = 2}));
  CHECK_FALSE(shards.contains({.shard = 2, .offset = 0, .bytes = 1}));
}

TEST_CASE("What lies outside is an error that says which file is how short", "[storage]") {
  const test::ShardFixture fixture;
  const Shards shards(fixture.paths);
  CHECK(shards.file_of({.shard = 1, .offset = 5, .bytes = 7}).path() == fixture.paths[1]);
  const Error short_file =
      test::error_of([&] { (void)shards.file_of({.shard = 1, .offset = 20'000, .bytes = 4}); });
  CHECK(short_file.code() == Errc::io);
  CHECK(test::mentions(short_file, fixture.paths[1].string() +
                                       ": cannot read 4 bytes at offset 20000: the file has 20003 bytes"));
  const Error no_file = test::error_of([&] { (void)shards.file_of({.shard = 2, .offset = 1, .bytes = 3}); });
  CHECK(no_file.code() == Errc::io);
  CHECK(test::mentions(no_file, "shard 2: cannot read 3 bytes at offset 1: the model has 2 shards"));
}

}  // namespace lazymoe::storage::detail
