#include <lazymoe/quant/kernels/reference.hpp>

#include <lazymoe/quant/formats/q8_0.hpp>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

TEST_CASE("the reference multiplies decoded weights by numbers or decoded activations", "[quant][kernels]") {
  Q8_0::Block block{.d = {0x3800}, .q = {}};  // 0.5
  block.q[0] = 3;
  block.q[31] = -4;
  const std::vector<Q8_0::Block> row(2, block);

  std::vector<float> x(64, 0.0F);
  x[0] = 10.0F;
  x[32 + 31] = 100.0F;
  CHECK(DotKernel<Q8_0, simd::Scalar>::run(row, x.data()) == 0.5F * 3 * 10 - 0.5F * 4 * 100);

  std::vector<ActivationQ8_0> y(2, ActivationQ8_0{.q = {}, .d = 0.25F, .next = {}});
  y[0].q[0] = 7;
  y[1].q[31] = 9;
  CHECK(IntDotKernel<Q8_0, simd::Scalar>::run(row, y.data()) == 0.125F * (3 * 7 - 4 * 9));
}
