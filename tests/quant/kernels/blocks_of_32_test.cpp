#include <lazymoe/quant/kernels/blocks_of_32.hpp>

#include <vector>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;

TEMPLATE_TEST_CASE("kernels of 32-element blocks obey the laws of a kernel", "[quant][kernels]", Q4_0, Q4_1, Q5_0, Q5_1,
                   Q8_0, IQ4_NL, MXFP4) {
  lazymoe::test::check_kernel_laws<TestType>();
}

TEST_CASE("a weight of -128 does not overflow", "[quant][kernels]") {
  Q8_0::Block block{.d = {0x3C00}, .q = {}};
  block.q.fill(-128);
  ActivationQ8_0 x{.q = {}, .d = 1.0F, .next = {}};
  x.q.fill(127);
  const std::vector<Q8_0::Block> row{block};
  CHECK(dot<Q8_0>(row, &x) == -128.0F * 127 * 32);
  x.q.fill(-127);
  CHECK(dot<Q8_0>(row, &x) == 128.0F * 127 * 32);
}
