#include <lazymoe/quant/kernels/iq2.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEMPLATE_TEST_CASE("the IQ2 kernels obey the laws of a kernel", "[quant][kernels]", lazymoe::quant::IQ2_XXS,
                   lazymoe::quant::IQ2_XS, lazymoe::quant::IQ2_S) {
  lazymoe::test::check_kernel_laws<TestType>();
}
