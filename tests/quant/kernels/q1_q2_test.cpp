#include <lazymoe/quant/kernels/q1_q2.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;

TEMPLATE_TEST_CASE("kernels of one and two bits obey the laws of a kernel", "[quant][kernels]", Q1_0, Q2_0) {
  lazymoe::test::check_kernel_laws<TestType>();
}
