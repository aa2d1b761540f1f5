#include <array>
#include <cstddef>
#include <lazymoe/quant/formats/q4_k.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

namespace {

/// d = 1, dmin = 0.5; every group scale 2, every minimum 3; every weight 5.
constexpr Q4_K::Block uniform_block() {
  Q4_K::Block block{.d = {0x3C00}, .dmin = {0x3800}, .scales = {}, .q = {}};
  for (std::size_t g = 0; g < 4; ++g) {
    block.scales[g] = 2;
    block.scales[g + 4] = 3;
    block.scales[g + 8] = 2 | (3 << 4);
  }
  block.q.fill(0x55);
  return block;
}

}  // namespace

// The shape of the format is settled while compiling.
static_assert(row_bytes<Q4_K>(2048) == 1152);
static_assert(decoded<Q4_K>(uniform_block())[255] == 1.0F * 2 * 5 - 0.5F * 3);

TEST_CASE("Q4_K takes the top bits of groups 4-7 from the spare bits of bytes 0-7", "[quant][q4_k]") {
  auto block = uniform_block();
  block.scales[0] |= 0b11 << 6;  // scale of group 4: 2 -> 2 + 48
  block.scales[7] |= 0b10 << 6;  // minimum of group 7: 3 -> 3 + 32

  CHECK(int{Q4_K::group_params(block, 0).scale} == 2);
  CHECK(int{Q4_K::group_params(block, 4).scale} == 50);
  CHECK(int{Q4_K::group_params(block, 3).min} == 3);
  CHECK(int{Q4_K::group_params(block, 7).min} == 35);
  CHECK(decoded<Q4_K>(block)[4 * 32] == 50.0F * 5 - 1.5F);
  CHECK(decoded<Q4_K>(block)[7 * 32] == 2.0F * 5 - 17.5F);
}

TEST_CASE("Q4_K has exact products, so fusing them with the sum changes nothing", "[quant][q4_k]") {
  // The longest factors: an 11-bit significand, the largest scale, the largest weight of Q5_K.
  constexpr float d = to_float(Half{0x3BFF});
  STATIC_REQUIRE(double{d * 63.0F * 31.0F} == double{d} * 63 * 31);
}
