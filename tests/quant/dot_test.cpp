#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/dot.hpp>
#include <lazymoe/quant/registry.hpp>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "quant/golden_kernels.hpp"
#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

TEMPLATE_LIST_TEST_CASE("dot gives what the reference library gives, up to the order of sums", "[quant][dot]",
                        test::TypeList<formats>) {
  using F = TestType;
  if constexpr (!std::is_same_v<F, F32>) {
    const auto row = test::read_kernel_golden<typename F::Block>(std::string(F::name) + ".row");
    const auto x = test::rounded<F>(test::read_kernel_golden<float>("y.f32"));
    const double golden = test::read_kernel_golden<float>(std::string(F::name) + ".dot").at(0);
    const double mine = dot<F>(row, x.data());
    CAPTURE(F::name, golden, mine);
    // Both round sums of products otherwise alike: far less than the bound for either order. The scalar path adds up
    // rounded activations where the reference has their rounded sum.
    if constexpr (F::activation != ActivationKind::q8_1 || simd::Avx2Arch<simd::DefaultArch>) {
      CHECK(std::abs(mine - golden) <= 1e-6 * 1024);
    }
    CHECK(std::abs(mine - golden) <= 2 * test::exact_dot<F>(row, x).error);
  }
}

TEMPLATE_LIST_TEST_CASE("dot_float is within its stated error", "[quant][dot]", test::TypeList<formats>) {
  using F = TestType;
  std::mt19937 random(3);
  std::vector<typename F::Block> row(F::block_elems == 1 ? 777 : 5);
  std::vector<float> x(row.size() * F::block_elems);
  for (auto& b : row) b = test::random_block<F>(random);
  for (auto& v : x) v = std::normal_distribution<float>()(random);

  double sum = 0;
  double yardstick = 0;
  std::array<float, F::block_elems> w{};
  for (std::size_t b = 0; b < row.size(); ++b) {
    F::decode(row[b], w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double product = double{w[i]} * double{x[b * F::block_elems + i]};
      sum += product;
      yardstick += std::abs(product);
    }
  }
  const double bound = (static_cast<double>(x.size()) + 2) * 0x1p-24 * yardstick;
  CHECK(std::abs(double{dot_float<F>(row, x)} - sum) <= bound);
  CHECK(std::abs(double{dot_float<F, simd::Scalar>(row, x)} - sum) <= bound);
}

TEMPLATE_LIST_TEST_CASE("dot_panel gives the bits of dot for any numbers of rows, blocks and activations",
                        "[quant][dot]", test::TypeList<formats>) {
  using F = TestType;
  std::mt19937 random(11);
  std::normal_distribution<float> gauss;
  for (std::size_t n = 1; n <= 64; ++n) {
    const std::size_t blocks = F::block_elems == 1 ? 3 * n : 1 + (n * 37) % 64;
    const std::size_t n_rows = 1 + n % 7;
    std::vector<typename F::Block> rows(n_rows * blocks);
    for (auto& b : rows) b = test::random_block<F>(random);
    std::vector<std::vector<ActivationBlock<F>>> x;
    std::vector<const ActivationBlock<F>*> pointers;
    for (std::size_t t = 0; t < n; ++t) {
      std::vector<float> values(blocks * F::block_elems);
      for (auto& v : values) v = gauss(random);
      x.push_back(test::rounded<F>(values));
    }
    for (const auto& one : x) pointers.push_back(one.data());

    const std::size_t stride = n_rows + 3;
    std::vector<float> out(n * stride, -1.0F);
    dot_panel<F>(rows.data(), n_rows, blocks, pointers, out.data(), stride);
    std::size_t wrong = 0;
    for (std::size_t t = 0; t < n; ++t) {
      for (std::size_t r = 0; r < n_rows; ++r) {
        const float expected = dot<F>({rows.data() + r * blocks, blocks}, pointers[t]);
        wrong += std::bit_cast<std::uint32_t>(out[t * stride + r]) != std::bit_cast<std::uint32_t>(expected) ? 1 : 0;
      }
      for (std::size_t r = n_rows; r < stride; ++r) wrong += out[t * stride + r] != -1.0F ? 1 : 0;
    }
    CAPTURE(F::name, n, blocks, n_rows);
    REQUIRE(wrong == 0);
  }
}
