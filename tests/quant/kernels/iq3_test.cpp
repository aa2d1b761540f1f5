#include <lazymoe/quant/kernels/iq3.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEMPLATE_TEST_CASE("the IQ3 kernels obey the laws of a kernel", "[quant][kernels]", lazymoe::quant::IQ3_XXS,
                   lazymoe::quant::IQ3_S) {
  lazymoe::test::check_kernel_laws<TestType>();
}
