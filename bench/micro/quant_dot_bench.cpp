// One expert row of Qwen3-30B-A3B: 2048 weights against one activation, all in L1. A name says the packed bytes, so
// bytes / ns is GB/s. Not the speed of reading experts from memory or disk, which bench/end_to_end measures.
#include <lazymoe/quant/activation.hpp>
#include <lazymoe/quant/dot.hpp>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

namespace {

constexpr std::size_t cols = 2048;

std::vector<float> gaussian() {
  std::mt19937 random(1);
  std::normal_distribution<float> gauss;
  std::vector<float> x(cols);
  for (auto& v : x) v = gauss(random);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("dot, 2048 columns", "[!benchmark][quant]", Q8_0, Q4_K, Q5_K, Q6_K, Q5_0, Q4_0, IQ4_NL, IQ4_XS, MXFP4,
                   Q3_K, Q2_K, F32, F16, BF16) {
  using F = TestType;
  const std::vector<typename F::Block> row(cols / F::block_elems);
  std::vector<ActivationBlock<F>> x(cols / ActivationOf<F>::block_elems);
  quantize<F::activation>(gaussian(), x);
  const auto title = std::string(F::name) + ", " + std::to_string(row_bytes<F>(cols)) + " bytes, ";

  BENCHMARK(title + simd::Scalar::name()) { return dot<F, simd::Scalar>(row, x.data()); };
  BENCHMARK(title + simd::DefaultArch::name()) { return dot<F>(row, x.data()); };
}

TEST_CASE("quantize, 2048 numbers", "[!benchmark][quant]") {
  const auto x = gaussian();
  std::vector<ActivationQ8_0> small(cols / 32);
  std::vector<ActivationTraits<ActivationKind::q8_K>::Block> large(cols / 256);

  BENCHMARK("q8_0") { return quantize<ActivationKind::q8_0>(x, small), small[0].d; };
  BENCHMARK("q8_K") { return quantize<ActivationKind::q8_K>(x, large), large[0].d; };
}
