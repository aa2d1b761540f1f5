#include <lazymoe/quant/dot.hpp>

#include <cmath>
#include <cstddef>
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
    // Both round sums of products otherwise alike: far less than the bound for either order.
    CHECK(std::abs(mine - golden) <= 1e-6 * 1024);
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
