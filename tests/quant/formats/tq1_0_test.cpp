#include <array>
#include <cstdint>
#include <lazymoe/quant/formats/tq1_0.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(row_bytes<TQ1_0>(2048) == 432);

namespace {

/// The byte of digits a, b, c, d, e, the first weight first.
constexpr std::uint8_t packed(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e) {
  const unsigned number = (((a * 3 + b) * 3 + c) * 3 + d) * 3 + e;
  return static_cast<std::uint8_t>((number * 256 + 242) / 243);
}

}  // namespace

TEST_CASE("TQ1_0 gives back the five digits of every byte", "[quant][tq1_0]") {
  for (unsigned number = 0; number < 243; ++number) {
    const std::array<unsigned, 5> digits = {number / 81, number / 27 % 3, number / 9 % 3, number / 3 % 3, number % 3};
    const std::uint8_t byte = packed(digits[0], digits[1], digits[2], digits[3], digits[4]);
    for (std::size_t n = 0; n < 5; ++n) CHECK(TQ1_0::digit(byte, n) == static_cast<int>(digits[n]));
  }
}

TEST_CASE("TQ1_0 spreads digits over runs of 32, then 16, then 4", "[quant][tq1_0]") {
  TQ1_0::Block block{.q = {}, .rest = {}, .d = {0x3800}};  // d = 0.5
  block.q[3] = packed(2, 1, 0, 2, 1);
  block.q[32 + 3] = packed(1, 2, 1, 0, 2);
  block.rest[1] = packed(2, 0, 1, 2, 0);
  const auto w = decoded<TQ1_0>(block);
  CHECK(w[3] == 0.5F);
  CHECK(w[32 + 3] == 0);
  CHECK(w[64 + 3] == -0.5F);
  CHECK(w[96 + 3] == 0.5F);
  CHECK(w[128 + 3] == 0);
  CHECK(w[160 + 3] == 0);
  CHECK(w[176 + 3] == 0.5F);
  CHECK(w[224 + 3] == 0.5F);
  CHECK(w[240 + 1] == 0.5F);
  CHECK(w[244 + 1] == -0.5F);
  CHECK(w[248 + 1] == 0);
  CHECK(w[252 + 1] == 0.5F);
}
