#include <array>
#include <cstdint>
#include <lazymoe/simd/byte_products.hpp>
#include <random>

#include "support/catch.hpp"

using namespace lazymoe;

TEST_CASE("products of bytes are summed exactly", "[simd]") {
  std::mt19937 random(1);
  std::array<std::int8_t, 17> a;
  std::array<std::int8_t, 17> b;
  for (int round = 0; round < 1000; ++round) {
    for (auto& v : a) v = static_cast<std::int8_t>(random());
    for (auto& v : b) v = static_cast<std::int8_t>(random());
    std::int32_t expected = 10;
    for (std::size_t i = 0; i < 16; ++i) expected += std::int32_t{a[i + 1]} * b[i];
    REQUIRE(simd::sum(simd::add_products(simd::Quad{1, 2, 3, 4}, a.data() + 1, b.data())) == expected);
  }
}

TEST_CASE("the largest products fit", "[simd]") {
  std::array<std::int8_t, 16> lowest;
  lowest.fill(-128);
  CHECK(simd::sum(simd::add_products(simd::Quad{}, lowest.data(), lowest.data())) == 16 * 128 * 128);
}
