#include <algorithm>
#include <cstddef>
#include <cstring>
#include <lazymoe/quant/activation_block.hpp>
#include <lazymoe/quant/formats/q8_k.hpp>
#include <lazymoe/quant/formats/q8_0.hpp>
#include <lazymoe/quant/formats/q8_1.hpp>
#include <lazymoe/quant/kernels/quantize.hpp>
#include <limits>
#include <vector>

#include "quant/golden_kernels.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;
using test::read_kernel_golden;

namespace {

template <ActivationKind Kind>
std::vector<typename ActivationTraits<Kind>::Block> rounded() {
  const auto x = read_kernel_golden<float>("x.f32");
  std::vector<typename ActivationTraits<Kind>::Block> out(x.size() / ActivationTraits<Kind>::block_elems);
  QuantizeKernel<Kind, simd::Scalar>::run(x, out.data());
  return out;
}

}  // namespace

TEST_CASE("activations are rounded bit for bit as the reference rounds them", "[quant][activation]") {
  SECTION("q8_0") {
    const auto mine = rounded<ActivationKind::q8_0>();
    const auto golden = read_kernel_golden<Q8_0::Block>("x.q8_0");
    REQUIRE(mine.size() == golden.size());
    for (std::size_t b = 0; b < mine.size(); ++b) {
      CAPTURE(b);
      CHECK(mine[b].d == to_float(golden[b].d));
      CHECK(mine[b].q == golden[b].q);
    }
  }
  SECTION("q8_1") {
    const auto mine = rounded<ActivationKind::q8_1>();
    const auto golden = read_kernel_golden<Q8_1::Block>("x.q8_1");
    REQUIRE(mine.size() == golden.size());
    for (std::size_t b = 0; b < mine.size(); ++b) {
      CAPTURE(b);
      CHECK(mine[b].d == to_float(golden[b].d));
      CHECK(mine[b].s == to_float(golden[b].s));
      CHECK(mine[b].q == golden[b].q);
    }
  }
  SECTION("q8_K") {
    const auto mine = rounded<ActivationKind::q8_K>();
    const auto golden = read_kernel_golden<Q8_K::Block>("x.q8_K");
    REQUIRE(mine.size() == golden.size());
    for (std::size_t b = 0; b < mine.size(); ++b) {
      CAPTURE(b);
      CHECK(mine[b].d == golden[b].d);
      CHECK(mine[b].q == golden[b].q);
      CHECK(mine[b].sums == golden[b].sums);
      for (std::size_t g = 0; g < 8; ++g) {
        CHECK(int{mine[b].sums_of_32[g]} == golden[b].sums[2 * g] + golden[b].sums[2 * g + 1]);
      }
    }
  }
  SECTION("f16 and bf16") {
    const auto half = [](std::uint16_t bits) { return to_float(Half{bits}); };
    const auto brain = [](std::uint16_t bits) { return to_float(BFloat16{bits}); };
    CHECK(std::ranges::equal(rounded<ActivationKind::f16>(), read_kernel_golden<std::uint16_t>("x.f16"), {}, {}, half));
    CHECK(std::ranges::equal(rounded<ActivationKind::bf16>(), read_kernel_golden<std::uint16_t>("x.bf16"), {}, {},
                             brain));
  }
}

TEST_CASE("q8_K keeps the sign of the largest magnitude, the first of equals", "[quant][activation]") {
  std::array<float, 256> x{};
  x[3] = 2.0F;
  x[7] = -2.0F;
  x[20] = 1.0F;
  ActivationQ8_K block;
  ActivationTraits<ActivationKind::q8_K>::quantize(x, block);

  CHECK(int{block.q[3]} == -127);
  CHECK(int{block.q[7]} == 127);
  CHECK(int{block.q[20]} == -64);  // -63.5 to even
  CHECK(block.d == -2.0F / 127);
  CHECK(int{block.sums[0]} == 0);
  CHECK(int{block.sums[1]} == -64);
  CHECK(int{block.sums_of_32[0]} == -64);
}

TEST_CASE("numbers that are not finite are no undefined behaviour", "[quant][activation]") {
  std::array<float, 256> x{};
  x[0] = std::numeric_limits<float>::quiet_NaN();
  x[1] = std::numeric_limits<float>::infinity();
  ActivationQ8_K block;
  ActivationTraits<ActivationKind::q8_K>::quantize(x, block);
  ActivationQ8_0 small;
  ActivationTraits<ActivationKind::q8_0>::quantize(std::span(x).first<32>(), small);
  CHECK(int{small.q[2]} == 0);
}

TEST_CASE("blocks of a row hold the scales of those that follow", "[quant][activation]") {
  std::vector<float> x(10 * 32);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(1 + i / 32);
  const auto check = [&]<class Arch>() {
    std::vector<ActivationQ8_0> row(10);
    QuantizeKernel<ActivationKind::q8_0, Arch>::run(x, row.data());
    for (std::size_t b = 0; b < row.size(); ++b) {
      for (std::size_t i = 0; i < 7; ++i) {
        CAPTURE(b, i);
        CHECK(row[b].next[i] == (b + i + 1 < row.size() ? row[b + i + 1].d : 0.0F));
      }
    }
    CHECK(row[9].d > row[8].d);
  };
  check.operator()<simd::Scalar>();
  check.operator()<simd::DefaultArch>();
}
