#include <lazymoe/quant/kernels/decode_blocks.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/decode.hpp>
#include <random>
#include <vector>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

namespace {

/// Number of weights whose bits differ between the scalar and the fast decoder; any NaN equals any other.
template <BlockFormat F>
std::size_t differing(const std::vector<typename F::Block>& row) {
  std::vector<float> scalar(row.size() * F::block_elems);
  std::vector<float> fast(scalar.size());
  DecodeKernel<F, simd::Scalar>::run(row, scalar.data());
  DecodeKernel<F, simd::DefaultArch>::run(row, fast.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const bool equal = std::bit_cast<std::uint32_t>(scalar[i]) == std::bit_cast<std::uint32_t>(fast[i]) ||
                       (std::isnan(scalar[i]) && std::isnan(fast[i]));
    wrong += equal ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("fast decoders give the bits of the scalar ones for any block", "[quant][kernels]",
                        test::TypeList<formats>) {
  using Block = typename TestType::Block;
  std::mt19937 random(21);
  std::vector<Block> row(1003);
  SECTION("of usual scales") {
    for (auto& b : row) b = test::random_block<TestType>(random);
    CHECK(differing<TestType>(row) == 0);
  }
  SECTION("of random bytes: any scale, subnormal and infinite ones too") {
    for (auto& b : row) {
      std::array<std::uint8_t, sizeof(Block)> bytes;
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
      std::memcpy(&b, bytes.data(), sizeof(b));
    }
    CHECK(differing<TestType>(row) == 0);
  }
  SECTION("of zeros, of ones") {
    std::fill(row.begin(), row.end(), Block{});
    CHECK(differing<TestType>(row) == 0);
    for (auto& b : row) std::memset(static_cast<void*>(&b), 0xFF, sizeof(b));
    CHECK(differing<TestType>(row) == 0);
  }
}
