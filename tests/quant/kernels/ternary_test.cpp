#include <lazymoe/quant/kernels/ternary.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;

TEMPLATE_TEST_CASE("ternary kernels obey the laws of a kernel", "[quant][kernels]", TQ1_0, TQ2_0) {
  lazymoe::test::check_kernel_laws<TestType>();
}
