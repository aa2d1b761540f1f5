#include <lazymoe/tensor/norm.hpp>

#include <cmath>
#include <vector>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::tensor {

TEST_CASE("rms_norm divides by the root of the mean square and multiplies by the weight", "[tensor]") {
  const std::vector<float> x{3.0F, 4.0F, 0.0F, 0.0F};  // mean square 25 / 4
  const std::vector<float> weight{1.0F, 2.0F, 1.0F, 1.0F};
  std::vector<float> y(4);
  rms_norm(x, weight, 0.0F, y);
  CHECK(y[0] == Approx(3.0 / 2.5));
  CHECK(y[1] == Approx(2 * 4.0 / 2.5));
  CHECK(y[2] == 0.0F);
}

TEST_CASE("epsilon keeps the norm of zero finite", "[tensor]") {
  const std::vector<float> zero(5, 0.0F);
  std::vector<float> y(5, 1.0F);
  rms_norm(zero, std::vector<float>(5, 1.0F), 1e-6F, y);
  for (const float v : y) CHECK(v == 0.0F);
}

TEST_CASE("l2_norm makes a vector as long as 1, and leaves one shorter than epsilon short", "[tensor]") {
  std::vector<float> x{3.0F, 0.0F, -4.0F};
  l2_norm(x, 1e-6F);
  CHECK(x[0] == Approx(0.6));
  CHECK(x[1] == 0.0F);
  CHECK(x[2] == Approx(-0.8));
  std::vector<float> tiny{3e-8F, 4e-8F};
  l2_norm(tiny, 1e-6F);
  CHECK(tiny[0] == Approx(0.03));
  std::vector<float> zero(3, 0.0F);
  l2_norm(zero, 1e-6F);
  CHECK(zero == std::vector<float>(3, 0.0F));
}

TEST_CASE("Each row and each head is normed by itself", "[tensor]") {
  test::Noise noise(1);
  const auto weight = noise.values(8);
  Matrix x(3, 8);
  for (std::size_t i = 0; i < 24; ++i) x.data()[i] = noise.value();
  Matrix y(3, 8);
  rms_norm(x, weight, 1e-6F, y);
  std::vector<float> heads(x.data(), x.data() + 24);
  rms_norm_heads(heads, weight, 1e-6F);
  for (std::size_t t = 0; t < 3; ++t) {
    std::vector<float> one(8);
    rms_norm(row(ConstRows(x), t), weight, 1e-6F, one);
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(y.data()[8 * t + i] == one[i]);
      CHECK(heads[8 * t + i] == one[i]);
    }
  }
}

}  // namespace lazymoe::tensor
