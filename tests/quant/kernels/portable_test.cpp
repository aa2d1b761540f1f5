#include <array>
#include <cstdint>
#include <lazymoe/quant/kernels/portable.hpp>
#include <type_traits>
#include <xsimd/xsimd.hpp>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

// On x86 the portable kernels are those of SSE2, also in programs for AVX2.
#if defined(__x86_64__)
using PortableArch = xsimd::sse2;
#else
using PortableArch = simd::DefaultArch;
#endif

TEMPLATE_TEST_CASE("the portable kernels keep the laws", "[quant][kernels]", Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL,
                   MXFP4, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_XS) {
  STATIC_REQUIRE(HasBlockDot<TestType, PortableArch>);
  test::check_kernel_laws<TestType, PortableArch>();
}

TEMPLATE_TEST_CASE("blocks become the bytes that their decoder scales", "[quant][kernels]", Q8_0, Q4_0, Q5_0, IQ4_NL,
                   MXFP4, Q3_K, Q6_K, IQ4_XS) {
  using F = TestType;
  std::mt19937 random(9);
  for (int round = 0; round < 50; ++round) {
    const auto block = test::random_block<F>(random);
    std::array<float, F::block_elems> decoded;
    F::decode(block, decoded);
    const detail::PortableWeights<F> w(block);
    for (std::size_t i = 0; i < F::block_elems; ++i) {
      float expected = w.d * static_cast<float>(w.bytes[i]);
      if constexpr (F::block_elems == 256) expected *= static_cast<float>(w.scales[i / 16]);
      REQUIRE(decoded[i] == expected);
    }
  }
}
