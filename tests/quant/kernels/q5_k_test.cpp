#include <lazymoe/quant/kernels/q5_k.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEST_CASE("the Q5_K kernel obeys the laws of a kernel", "[quant][kernels]") {
  lazymoe::test::check_kernel_laws<lazymoe::quant::Q5_K>();
}
