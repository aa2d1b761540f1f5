#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <lazymoe/quant/encode.hpp>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "quant/golden.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

using Encodable = std::tuple<F32, F16, BF16, Q8_0, Q4_0, Q6_K>;

static_assert(EncodableFormat<Q8_0> && !EncodableFormat<Q4_K>);

TEMPLATE_LIST_TEST_CASE("encoding and decoding keeps a block within the stated error", "[quant][encode]", Encodable) {
  constexpr auto n = TestType::block_elems;
  const auto seed = GENERATE(range(0U, 200U));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> gauss(0.0F, std::exp2(static_cast<float>(seed % 8)));
  std::array<float, n> x{};
  // Groups of 16 of very different size are hard for a format with scales of scales.
  for (std::size_t i = 0; i < n; ++i) x[i] = gauss(random) * std::exp2(-static_cast<float>(i / 16 * (seed % 3)));

  std::array<float, n> w{};
  TestType::decode(Encoder<TestType>::run(x), w);
  float largest = 0;
  for (const float v : x) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < n; ++i) {
    CAPTURE(i, x[i], w[i]);
    CHECK(std::abs(w[i] - x[i]) <= Encoder<TestType>::error * largest);
  }
}

TEMPLATE_LIST_TEST_CASE("zeros stay zeros, and numbers too small for the scale become zeros", "[quant][encode]",
                        Encodable) {
  const auto value = GENERATE(0.0F, 1e-40F, -1e-36F);
  std::array<float, TestType::block_elems> x{};
  x.fill(value);
  std::array<float, TestType::block_elems> w{};
  TestType::decode(Encoder<TestType>::run(x), w);
  for (const float v : w) CHECK(std::abs(v) <= std::abs(value) * (1 + 0x1p-8F));
}

TEMPLATE_TEST_CASE("what is encoded simply has the bytes of the reference", "[quant][encode]", F32, F16, BF16, Q8_0,
                   Q4_0) {
  const auto x = test::read_golden<float>("gauss.f32");
  auto expected = test::read_golden<std::byte>(std::string(TestType::name) + ".blocks");
  expected.resize(row_bytes<TestType>(x.size()));
  std::vector<std::byte> actual(expected.size());
  encode_row(TestType::id, x, actual);
  CHECK((actual == expected));
}

TEST_CASE("a format without an encoder is refused by name", "[quant][encode]") {
  const std::vector<float> x(256);
  std::vector<std::byte> out(144);
  CHECK_THROWS_WITH(encode_row(TypeId::q4_K, x, out), Catch::Contains("Q4_K"));
  CHECK_THROWS_AS(encode_row(TypeId{4}, x, out), Error);
}
