#include <lazymoe/quant/kernels/iq1.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEMPLATE_TEST_CASE("the IQ1 kernels obey the laws of a kernel", "[quant][kernels]", lazymoe::quant::IQ1_S,
                   lazymoe::quant::IQ1_M) {
  lazymoe::test::check_kernel_laws<TestType>();
}
