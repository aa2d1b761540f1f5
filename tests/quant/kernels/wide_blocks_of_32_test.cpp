#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lazymoe/quant/dot.hpp>
#include <random>
#include <vector>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

namespace {

/// Whether every product of a panel has the bits of dot(). `extreme` fills codes with the bytes whose sums are largest.
template <BlockFormat F>
bool has_the_bits_of_dot(std::size_t n_rows, std::size_t blocks, std::size_t n, bool extreme = false) {
  std::mt19937 random(static_cast<std::uint32_t>(100 * n_rows + blocks));
  std::normal_distribution<float> gauss;
  std::vector<typename F::Block> rows(n_rows * blocks);
  for (auto& block : rows) {
    block = test::random_block<F>(random);
    const std::uint8_t code = random() % 2 == 0 ? 0x80 : 0x7F;
    if constexpr (requires { block.q; }) {
      if (extreme) std::memset(block.q.data(), code, block.q.size());
    }
  }
  std::vector<std::vector<ActivationBlock<F>>> x;
  std::vector<const ActivationBlock<F>*> pointers;
  for (std::size_t t = 0; t < n; ++t) {
    std::vector<float> values(blocks * F::block_elems);
    for (auto& v : values) v = extreme ? (t % 2 == 0 ? 1.0F : -1.0F) : gauss(random);
    x.push_back(test::rounded<F>(values));
  }
  for (const auto& one : x) pointers.push_back(one.data());

  const std::size_t stride = n_rows + 3;
  std::vector<float> out(n * stride, -1.0F);
  dot_panel<F>(rows.data(), n_rows, blocks, pointers, out.data(), stride);
  for (std::size_t t = 0; t < n; ++t) {
    for (std::size_t r = 0; r < stride; ++r) {
      const float expected = r < n_rows ? dot<F>({rows.data() + r * blocks, blocks}, pointers[t]) : -1.0F;
      if (std::bit_cast<std::uint32_t>(out[t * stride + r]) != std::bit_cast<std::uint32_t>(expected)) return false;
    }
  }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("many rows against many activations have the bits of one row against one", "[quant][kernels]", Q8_0,
                   Q4_0, Q4_1, Q5_0, Q5_1, IQ4_NL, MXFP4, F16, BF16, F32) {
  // Numbers of rows and of blocks around those that are taken at once, and activations that are left over.
  for (const std::size_t n_rows : {8U, 9U, 65U}) {
    for (const std::size_t blocks : {1U, 2U, 15U, 16U, 17U, 32U, 33U, 67U}) {
      for (const std::size_t n : {8U, 19U}) {
        CAPTURE(n_rows, blocks, n);
        CHECK(has_the_bits_of_dot<TestType>(n_rows, TestType::block_elems == 1 ? 33 * blocks : blocks, n));
      }
    }
  }
}

TEMPLATE_TEST_CASE("the largest sums of a wide panel fit", "[quant][kernels]", Q8_0, Q4_0, Q4_1, IQ4_NL, MXFP4) {
  CHECK(has_the_bits_of_dot<TestType>(8, 33, 8, true));
}
