#include <array>
#include <lazymoe/quant/formats/plain.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

static_assert(decoded<F32>({2.5F})[0] == 2.5F);
static_assert(decoded<F16>({0x3800})[0] == 0.5F);
static_assert(decoded<BF16>({0xC000})[0] == -2.0F);
static_assert(row_bytes<F32>(3) == 12 && row_bytes<F16>(3) == 6 && row_bytes<BF16>(3) == 6);

TEST_CASE("plain numbers decode to themselves", "[quant][plain]") {
  CHECK(decoded<F32>({-0x1p-149F})[0] == -0x1p-149F);
  CHECK(decoded<F16>({0x8001})[0] == -0x1p-24F);
  CHECK(decoded<BF16>({0x0001})[0] == 0x1p-133F);
}
