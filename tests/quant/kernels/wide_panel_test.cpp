#include <lazymoe/quant/dot.hpp>
#include <lazymoe/quant/kernels/wide_panel.hpp>

#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

static_assert(!HasWidePanel<Q8_0, simd::Scalar> && !HasWidePanel<F32, simd::DefaultArch>);

#if defined(__AVX2__)
static_assert(HasWidePanel<Q8_0, simd::DefaultArch> && HasWidePanel<Q5_1, simd::DefaultArch>);
static_assert(!HasWidePanel<Q4_K, simd::DefaultArch>);

TEST_CASE("a wide panel wants rows enough to pay for making activations ready", "[quant][kernels]") {
  using Wide = WidePanel<Q4_0, simd::DefaultArch>;
  CHECK_FALSE(Wide::pays(1, 64));
  CHECK(Wide::pays(64, 64));
}
#endif
