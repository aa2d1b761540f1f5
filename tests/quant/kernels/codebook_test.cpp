#include <array>
#include <bit>
#include <cstdint>
#include <lazymoe/quant/decode.hpp>
#include <lazymoe/quant/kernels/codebook.hpp>
#include <random>
#include <string>
#include <vector>

#include "quant/golden_kernels.hpp"
#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

TEMPLATE_TEST_CASE("codebook formats decode to the same bits on every path", "[quant][kernels]", IQ1_S, IQ1_M, IQ2_XXS,
                   IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S) {
  using F = TestType;
  std::mt19937 random(11);
  std::vector<typename F::Block> row(50);
  for (auto& block : row) block = test::random_block<F>(random);
  std::vector<float> scalar(row.size() * F::block_elems);
  std::vector<float> fast(scalar.size());
  DecodeKernel<F, simd::Scalar>::run(row, scalar.data());
  DecodeKernel<F, simd::DefaultArch>::run(row, fast.data());
  CHECK(scalar == fast);  // no zeros in these rows, whose signs it would not see
}

TEMPLATE_TEST_CASE("dot products of codebook formats are the reference's to the bit", "[quant][kernels]", IQ1_S, IQ1_M,
                   IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S) {
  using F = TestType;
  if constexpr (HasBlockDot<F, simd::DefaultArch>) {
    const auto row = test::read_kernel_golden<typename F::Block>(std::string(F::name) + ".row");
    const auto x = test::rounded<F>(test::read_kernel_golden<float>("y.f32"));
    const auto golden = test::read_kernel_golden<float>(std::string(F::name) + ".dot").at(0);
    CHECK(dot<F>(row, x.data()) == golden);
  }
}

#if defined(__AVX2__)

TEST_CASE("vectors of seven signs get the eighth", "[quant][kernels]") {
  for (unsigned first = 0; first < 128; first += 32) {
    std::array<std::uint8_t, 32> bytes;
    for (unsigned i = 0; i < 32; ++i) bytes[i] = static_cast<std::uint8_t>(first + i);
    const __m256i vector = detail::even_signs(simd::avx2::load32(bytes.data()));
    const auto eight = std::bit_cast<std::array<std::uint8_t, 32>>(vector);
    for (unsigned i = 0; i < 32; ++i) CHECK(eight[i] == even_signs(first + i));
  }
}

#endif
