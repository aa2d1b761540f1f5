#include <lazymoe/models/detail/register_tiles.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models::detail {
namespace {

constexpr std::size_t lanes = tile_lanes;

}  // namespace

TEST_CASE("Tiles cover any number of rows once, in order", "[models]") {
  for (std::size_t n = 0; n < 70; ++n) {
    std::size_t next = 0;
    for_tiles(n, [&]<std::size_t R>(std::size_t r) {
      CHECK(r == next);
      CHECK(R <= tallest_tile);
      next = r + R;
    });
    CHECK(next == n);
  }
}

TEST_CASE("A tile's sums are chains of fused multiply-adds, whatever its height and the layout of x", "[models]") {
  constexpr std::size_t n = 19;
  constexpr std::size_t rows = 7;
  test::Noise noise(1);
  const auto x = noise.values(n * rows);
  std::vector<float> transposed(x.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < rows; ++k) transposed[i * rows + k] = x[k * n + i];
  }
  const auto m = noise.values(n * 2 * lanes);
  const auto before = noise.values(rows * 2 * lanes);
  const float factor = 0.75F;
  std::vector<float> expected;
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t l = 0; l < 2 * lanes; ++l) {
      float sum = factor * before[k * 2 * lanes + l];
      for (std::size_t i = 0; i < n; ++i) {
#if defined(__FMA__)
        sum = std::fma(x[k * n + i], m[i * 2 * lanes + l], sum);
#else
        sum += x[k * n + i] * m[i * 2 * lanes + l];
#endif
      }
      expected.push_back(sum);
    }
  }
  auto y = before;
  for_tiles(rows, [&]<std::size_t R>(std::size_t r) {
    scale_and_multiply<R, 2>(factor, n, x.data() + r * n, n, 1, m.data(), 2 * lanes, y.data() + r * 2 * lanes,
                             2 * lanes);
  });
  CHECK(y == expected);

  auto narrow = before;
  for (std::size_t l = 0; l < 2 * lanes; l += lanes) {
    for (std::size_t k = 0; k < rows; ++k) {
      scale_and_multiply<1, 1>(factor, n, transposed.data() + k, 1, rows, m.data() + l, 2 * lanes,
                               narrow.data() + k * 2 * lanes + l, 2 * lanes);
    }
  }
  CHECK(narrow == expected);
}

}  // namespace lazymoe::models::detail
