#include <lazymoe/quant/kernels/iq4_xs.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

TEST_CASE("the IQ4_XS kernel obeys the laws of a kernel", "[quant][kernels]") {
  lazymoe::test::check_kernel_laws<lazymoe::quant::IQ4_XS>();
}
