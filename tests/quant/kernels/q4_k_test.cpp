#include <lazymoe/quant/kernels/q4_k.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEST_CASE("the Q4_K kernel obeys the laws of a kernel", "[quant][kernels]") {
  lazymoe::test::check_kernel_laws<lazymoe::quant::Q4_K>();
}
