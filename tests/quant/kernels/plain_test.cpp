#include <lazymoe/quant/kernels/plain.hpp>

#include <cstddef>
#include <random>
#include <vector>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

TEMPLATE_TEST_CASE("plain kernels obey the laws of a kernel", "[quant][kernels]", F32, F16, BF16) {
  test::check_kernel_laws<TestType>();
  if constexpr (simd::SimdArch<xsimd::sse2>) test::check_kernel_laws<TestType, xsimd::sse2>();
}

TEMPLATE_TEST_CASE("plain kernels take rows of any length", "[quant][kernels]", F32, F16, BF16) {
  std::mt19937 random(9);
  for (std::size_t n = 0; n < 80; ++n) {
    std::vector<typename TestType::Block> row(n);
    std::vector<float> x(n);
    for (auto& b : row) b = test::random_block<TestType>(random);
    for (auto& v : x) v = std::normal_distribution<float>()(random);
    test::check_error<TestType>(row, test::rounded<TestType>(x));
  }
}
