#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <lazymoe/quant/decode.hpp>
#include <lazymoe/quant/encode.hpp>
#include <map>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "quant/golden.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

using Encodable = std::tuple<F32, F16, BF16, Q8_0, Q4_0, Q6_K, Q5_K, Q4_K, IQ4_NL, MXFP4>;

static_assert(EncodableFormat<Q8_0> && !EncodableFormat<Q3_K>);

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
  // MXFP4 has scales for numbers that small, and 5.3 is nearer to 6 than to 4.
  const float most = std::is_same_v<TestType, MXFP4> ? 1.25F : 1 + 0x1p-8F;
  for (const float v : w) CHECK(std::abs(v) <= std::abs(value) * most);
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

namespace {

/// As scripts/make_quant_goldens.py makes them.
std::vector<float> nearly_gaussian(std::size_t n) {
  std::uint32_t state = 2024;
  std::vector<float> out(n);
  for (auto& x : out) {
    std::uint32_t total = 0;
    for (int i = 0; i < 12; ++i) {
      state = state * 1664525U + 1013904223U;
      total += state >> 12;
    }
    x = static_cast<float>(static_cast<double>(total) / (1 << 20) - 6);
  }
  return out;
}

}  // namespace

TEST_CASE("encoders lose at most 5 % more than the reference's", "[quant][encode]") {
  const auto x = nearly_gaussian(std::size_t{1} << 14);
  std::ifstream figures(std::string(LAZYMOE_GOLDEN_DIR) + "/quant/encode_mse.txt");
  std::map<std::string, double> reference;
  std::string name;
  for (double error = 0; figures >> name >> error;) reference[name] = error;
  REQUIRE(reference.size() == std::tuple_size_v<Encodable> - 1);  // F32 loses nothing

  for (std::size_t i = 0; i < layouts.size(); ++i) {
    if (!is_supported(TypeId{static_cast<std::uint32_t>(i)}) || !reference.contains(std::string(layouts[i].name))) continue;
    const auto type = TypeId{static_cast<std::uint32_t>(i)};
    std::vector<std::byte> packed(row_bytes(type, x.size()));
    encode_row(type, x, packed);
    std::vector<float> w(x.size());
    decode_row({type, 1, x.size(), packed}, 0, w);
    double error = 0;
    for (std::size_t k = 0; k < x.size(); ++k) error += (double{w[k]} - double{x[k]}) * (double{w[k]} - double{x[k]});
    error /= static_cast<double>(x.size());
    CAPTURE(layouts[i].name, error);
    CHECK(error <= 1.05 * reference.at(std::string(layouts[i].name)));
  }
}

TEST_CASE("a format without an encoder is refused by name", "[quant][encode]") {
  const std::vector<float> x(256);
  std::vector<std::byte> out(110);
  CHECK_THROWS_WITH(encode_row(TypeId::q3_K, x, out), Catch::Contains("Q3_K"));
  CHECK_THROWS_AS(encode_row(TypeId{4}, x, out), Error);
}
