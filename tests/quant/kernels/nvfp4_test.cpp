#include <lazymoe/quant/kernels/nvfp4.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEST_CASE("the NVFP4 kernel obeys the laws of a kernel", "[quant][kernels]") {
  lazymoe::test::check_kernel_laws<lazymoe::quant::NVFP4>();
}
