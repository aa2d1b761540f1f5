#include <array>
#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/kernels/bytes_of_32.hpp>
#include <random>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

#if defined(__AVX2__)

using namespace lazymoe::quant;

namespace {

std::array<std::int8_t, 32> bytes_of(__m256i v) {
  std::array<std::int8_t, 32> bytes;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(bytes.data()), v);
  return bytes;
}

}  // namespace

TEMPLATE_TEST_CASE("a block of 32 is its bytes times its scale, plus its offset", "[quant][kernels]", Q4_0, Q4_1, Q5_0,
                   Q5_1, Q8_0, IQ4_NL, MXFP4) {
  using Bytes = detail::Bytes32<TestType>;
  std::mt19937 random(1);
  for (int n = 0; n < 64; ++n) {
    const auto block = lazymoe::test::random_block<TestType>(random);
    std::array<float, 32> decoded;
    TestType::decode(block, decoded);
    const auto bytes = bytes_of(Bytes::unpack(block));
    const float scale = _mm256_cvtss_f32(Bytes::scale(block));
    for (std::size_t i = 0; i < 32; ++i) {
      const float product = scale * static_cast<float>(bytes[i]);
      if constexpr (detail::HasOffset<TestType>) {
        CHECK(product + Bytes::offset(block) == decoded[i]);
      } else {
        CHECK(product == decoded[i]);
      }
    }
    if constexpr (detail::HasExcess<TestType>) {
      const auto larger = bytes_of(Bytes::unpack_unsigned(block));
      const auto excess = bytes_of(Bytes::excess(block));
      for (std::size_t i = 0; i < 32; ++i) CHECK(larger[i] - excess[i] == bytes[i]);
    }
  }
}

#endif
