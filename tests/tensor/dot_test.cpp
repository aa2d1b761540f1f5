#include <lazymoe/tensor/dot.hpp>

#include <cstddef>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::tensor {

TEST_CASE("dot multiplies and adds rows of any length", "[tensor]") {
  test::Noise noise(5);
  for (const std::size_t n : {1U, 7U, 8U, 32U, 33U, 130U}) {
    const auto a = noise.values(n);
    const auto b = noise.values(n);
    double expected = 0.0;
    for (std::size_t i = 0; i < n; ++i) expected += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    CAPTURE(n);
    CHECK(static_cast<double>(dot(a, b)) == Approx(expected).margin(1e-5));
  }
}

}  // namespace lazymoe::tensor
