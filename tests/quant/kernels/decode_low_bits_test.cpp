#include <lazymoe/quant/kernels/decode_low_bits.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

TEMPLATE_TEST_CASE("decoders of few bits give the bits of the scalar ones", "[quant][kernels]", NVFP4, Q1_0, Q2_0, TQ1_0,
                   TQ2_0) {
  std::mt19937 random(4);
  std::vector<typename TestType::Block> row(101);
  for (auto& b : row) b = test::random_block<TestType>(random);
  std::vector<float> scalar(row.size() * TestType::block_elems);
  std::vector<float> fast(scalar.size());
  DecodeKernel<TestType, simd::Scalar>::run(row, scalar.data());
  DecodeKernel<TestType, simd::DefaultArch>::run(row, fast.data());
  CHECK(std::ranges::equal(scalar, fast, {}, [](float v) { return std::bit_cast<std::uint32_t>(v); },
                           [](float v) { return std::bit_cast<std::uint32_t>(v); }));
}
