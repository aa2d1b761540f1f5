#include <lazymoe/quant/kernels/q3_k.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEST_CASE("the Q3_K kernel obeys the laws of a kernel", "[quant][kernels]") {
  lazymoe::test::check_kernel_laws<lazymoe::quant::Q3_K>();
}
