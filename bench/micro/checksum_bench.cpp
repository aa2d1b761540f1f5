// The cost of checksums: a read of 0.88 MB, the size of a matrix of one expert of Qwen3-30B-A3B, in the cache and not.
#include <lazymoe/store/checksums.hpp>

#include <cstddef>
#include <numeric>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("checksum of 0.88 MB", "[!benchmark][store]") {
  const std::vector<std::byte> cached(880'000, std::byte{3});
  const std::vector<std::byte> large(std::size_t{512} << 20, std::byte{5});
  std::size_t at = 0;

  BENCHMARK("in the cache") { return store::checksum(cached); };
  BENCHMARK("from memory") {
    at = (at + 880'000) % (large.size() - 880'000);
    return store::checksum(std::span(large).subspan(at, 880'000));
  };
}

}  // namespace lazymoe
