#include <algorithm>
#include <lazymoe/io/mapping.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::io {

TEST_CASE("A mapping shows the file, whatever is advised or discarded", "[io]") {
  const test::TempDir dir;
  std::vector<std::byte> content(3 * 4096 + 100);
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i % 251);

  // The mapping outlives the handle.
  const Mapping mapping{FileHandle(dir.write("content", content))};
  const auto same = [&] { return std::ranges::equal(mapping.bytes(), content); };
  CHECK(same());

  const auto [offset, n] = GENERATE(table<std::uint64_t, std::uint64_t>({
      {0, 0},
      {100, 5000},
      {4096, 4096},
      {0, 3 * 4096 + 100},
      {12288, 1000000},
      {1000000, 1},
      {1, ~std::uint64_t{0}},
  }));
  mapping.advise_will_need(offset, n);
  CHECK(same());
  mapping.discard(offset, n);
  CHECK(same());
}

TEST_CASE("An empty file maps to no bytes", "[io]") {
  const test::TempDir dir;
  Mapping empty{FileHandle(dir.write("empty", {}))};
  CHECK(empty.bytes().empty());
  empty.advise_will_need(0, 10);
  empty.discard(0, 10);

  empty = Mapping{FileHandle(dir.write("one", std::vector{std::byte{7}}))};
  CHECK(empty.bytes().size() == 1);
}

}  // namespace lazymoe::io
