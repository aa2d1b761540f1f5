#include <lazymoe/simd/vector.hpp>

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::simd {

TEST_CASE("add_scaled and scale give each element the same bits at every place", "[simd]") {
  test::Noise noise(7);
  const auto x = noise.values(100);
  const auto y = noise.values(100);
  for (std::size_t n = 0; n <= 40; ++n) {
    std::vector<float> sum(y.begin() + 3, y.begin() + 3 + static_cast<std::ptrdiff_t>(n));
    add_scaled(0.3F, x.data() + 3, sum.data(), n);
    std::vector<float> scaled(n);
    scale(0.3F, x.data() + 3, scaled.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      float one = y[3 + i];
      add_scaled(0.3F, &x[3 + i], &one, 1);
      CHECK(sum[i] == one);
      CHECK(std::abs(one - std::fma(0.3F, x[3 + i], y[3 + i])) <= 0x1p-23F);
      CHECK(scaled[i] == 0.3F * x[3 + i]);
    }
  }
}

TEST_CASE("Nothing is written past the end", "[simd]") {
  std::vector<float> y(17, 5.0F);
  const std::vector<float> x(17, 1.0F);
  scale(2.0F, x.data(), y.data(), 13);
  CHECK(y[12] == 2.0F);
  CHECK(y[13] == 5.0F);
}

}  // namespace lazymoe::simd
