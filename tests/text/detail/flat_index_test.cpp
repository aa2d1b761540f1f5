#include <cstdint>
#include <lazymoe/text/detail/flat_index.hpp>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::text::detail {

TEST_CASE("a flat index finds what was inserted and nothing else, full and with equal hashes", "[text][index]") {
  const bool collide = GENERATE(false, true);
  constexpr std::uint32_t n = 1000;
  FlatIndex index(n);
  std::vector<std::uint64_t> keys;
  const auto hash = [&](std::uint64_t key) { return collide ? key % 3 : mix_bits(key); };
  for (std::uint32_t i = 0; i < n; ++i) {
    keys.push_back(i * 7ULL);
    index.insert(hash(keys.back()), i);
  }
  const auto find = [&](std::uint64_t key) {
    return index.find(hash(key), [&](std::uint32_t position) { return keys[position] == key; });
  };
  for (std::uint32_t i = 0; i < n; ++i) REQUIRE(find(keys[i]) == i);
  CHECK(find(1) == FlatIndex::none);
}

TEST_CASE("an index of no capacity finds nothing", "[text][index]") {
  CHECK(FlatIndex(0).find(0, [](std::uint32_t) { return true; }) == FlatIndex::none);
}

}  // namespace lazymoe::text::detail
