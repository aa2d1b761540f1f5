#include <lazymoe/storage/detail/direct_files.hpp>

#include "../shard_fixture.hpp"
#include "support/catch.hpp"

namespace lazymoe::storage::detail {

TEST_CASE("A direct read is whole blocks around the slice, in the file and in memory", "[storage][direct]") {
  const test::ShardFixture files;
  const DirectFiles direct(files.paths);
  constexpr auto block = DirectFiles::block;
  const Bytes offset = GENERATE(0U, 1U, 4095U, 4096U, 5000U);
  const Bytes bytes = GENERATE(1U, 4095U, 4096U, 4097U, 12'000U);
  const std::size_t shift = GENERATE(0U, 1U, 64U, 4095U);
  const experts::SliceRef slice{.shard = 0, .offset = offset, .bytes = bytes};
  std::vector<std::byte> memory(static_cast<std::size_t>(DirectFiles::footprint(slice)) + shift);
  const auto scratch = std::span(memory).subspan(shift);

  const DirectRead read = direct.plan(slice, scratch);
  CHECK(read.offset % block == 0);
  CHECK(read.into.size() % block == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(read.into.data()) % block == 0);
  CHECK(read.into.data() >= scratch.data());
  CHECK(read.into.data() + read.into.size() <= scratch.data() + scratch.size());
  CHECK(read.offset + static_cast<Bytes>(read.slice.data() - read.into.data()) == offset);
  CHECK(read.slice.size() == bytes);
  CHECK(read.slice.data() + read.slice.size() == read.into.data() + read.needed);
}

}  // namespace lazymoe::storage::detail
