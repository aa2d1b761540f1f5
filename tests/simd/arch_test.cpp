#include <lazymoe/simd/arch.hpp>

#include <string>

#include "support/catch.hpp"

using namespace lazymoe::simd;

static_assert(!SimdArch<Scalar> && !SimdArch<int> && !SimdArch<xsimd::unavailable>);
static_assert(!Avx2Arch<xsimd::sse2>);
#if defined(__AVX2__)
static_assert(Avx2Arch<DefaultArch> && Avx2Arch<xsimd::avx2>);
#endif

TEST_CASE("an instruction set names itself", "[simd]") {
  CHECK(std::string(Scalar::name()) == "scalar");
  CHECK_FALSE(std::string(DefaultArch::name()).empty());
}
