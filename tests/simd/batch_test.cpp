#include <lazymoe/simd/batch.hpp>

#include <array>
#include <cstddef>

#include "support/catch.hpp"

using namespace lazymoe::simd;

// Sums fold eight lanes at most: with AVX-512 they have the bits that AVX2 gives.
static_assert(Batch<>::size <= 8);

TEST_CASE("a batch multiplies, adds and sums its lanes", "[simd]") {
  using B = Batch<>;
  std::array<float, B::size> lanes{};
  float expected = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    lanes[i] = static_cast<float>(i);
    expected += 2 * lanes[i] + 1;
  }
  CHECK(sum(fma(B::load_unaligned(lanes.data()), B(2.0F), B(1.0F))) == expected);
}
