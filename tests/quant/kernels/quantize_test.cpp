#include <lazymoe/quant/kernels/quantize.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

namespace {

/// Whether both paths give the same bytes for x.
template <ActivationKind Kind>
bool paths_agree(std::span<const float> x) {
  using Block = typename ActivationTraits<Kind>::Block;
  const std::size_t blocks = x.size() / ActivationTraits<Kind>::block_elems;
  std::vector<Block> scalar(blocks);
  std::vector<Block> fast(blocks);
  QuantizeKernel<Kind, simd::Scalar>::run(x, scalar.data());
  QuantizeKernel<Kind, simd::DefaultArch>::run(x, fast.data());
  return std::ranges::equal(std::as_bytes(std::span(scalar)), std::as_bytes(std::span(fast)));
}

void check_all(std::span<const float> x) {
  CHECK(paths_agree<ActivationKind::f32>(x));
  CHECK(paths_agree<ActivationKind::f16>(x));
  CHECK(paths_agree<ActivationKind::bf16>(x));
  CHECK(paths_agree<ActivationKind::q8_0>(x));
  CHECK(paths_agree<ActivationKind::q8_1>(x));
  CHECK(paths_agree<ActivationKind::q8_K>(x));
}

}  // namespace

TEST_CASE("fast rounding gives the bytes of the reference", "[quant][activation]") {
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> gauss;
  std::vector<float> x(2048 + 1);

  SECTION("usual numbers, at any address") {
    for (auto& v : x) v = gauss(random);
    check_all(std::span(x).first(2048));
    check_all(std::span(x).last(2048));
  }
  SECTION("halves and their ties") {
    for (auto& v : x) v = std::round(gauss(random) * 20) / 2;
    for (std::size_t i = 0; i < x.size(); i += 32) x[i + random() % (i + 32 > x.size() ? 1 : 32)] = 127.0F;
    check_all(std::span(x).first(2048));
  }
  SECTION("a wide range, down to subnormal numbers") {
    for (auto& v : x) v = std::ldexp(gauss(random), static_cast<int>(random() % 250) - 149);
    check_all(std::span(x).first(2048));
  }
  SECTION("the largest magnitude with both signs") {
    for (auto& v : x) v = random() % 2 == 0 ? 3.0F : -3.0F;
    check_all(std::span(x).first(2048));
  }
  SECTION("blocks of zeros, of both signs") {
    for (auto& v : x) v = random() % 2 == 0 ? 0.0F : -0.0F;
    check_all(std::span(x).first(2048));
  }
}

TEST_CASE("plain activations may have any length", "[quant][activation]") {
  const std::vector<float> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10.0F / 3, 11};
  for (std::size_t n = 0; n <= x.size(); ++n) {
    CHECK(paths_agree<ActivationKind::f16>(std::span(x).first(n)));
    CHECK(paths_agree<ActivationKind::bf16>(std::span(x).first(n)));
  }
}
