#include <array>
#include <cstddef>
#include <lazymoe/quant/formats/q5_k.hpp>

#include "quant/formats/decoded.hpp"
#include "support/catch.hpp"

using namespace lazymoe::quant;
using lazymoe::test::decoded;

namespace {

/// d = 1, dmin = 0.5; every group scale 2, every minimum 3; every weight 5.
constexpr Q5_K::Block uniform_q5_block() {
  Q5_K::Block block{.d = {0x3C00}, .dmin = {0x3800}, .scales = {}, .high = {}, .low = {}};
  for (std::size_t g = 0; g < 4; ++g) {
    block.scales[g] = 2;
    block.scales[g + 4] = 3;
    block.scales[g + 8] = 2 | (3 << 4);
  }
  block.low.fill(0x55);
  return block;
}

}  // namespace

// The shape of the format is settled while compiling.
static_assert(row_bytes<Q5_K>(2048) == 1408);
static_assert(decoded<Q5_K>(uniform_q5_block())[255] == 1.0F * 2 * 5 - 0.5F * 3);

TEST_CASE("Q5_K takes the top bits of groups 4-7 from the spare bits of bytes 0-7", "[quant][q5_k]") {
  auto block = uniform_q5_block();
  block.scales[0] |= 0b11 << 6;  // scale of group 4: 2 -> 2 + 48
  block.scales[7] |= 0b10 << 6;  // minimum of group 7: 3 -> 3 + 32

  CHECK(int{Q5_K::group_params(block, 0).scale} == 2);
  CHECK(int{Q5_K::group_params(block, 4).scale} == 50);
  CHECK(int{Q5_K::group_params(block, 3).min} == 3);
  CHECK(int{Q5_K::group_params(block, 7).min} == 35);
  CHECK(decoded<Q5_K>(block)[4 * 32] == 50.0F * 5 - 1.5F);
  CHECK(decoded<Q5_K>(block)[7 * 32] == 2.0F * 5 - 17.5F);
}

TEST_CASE("Q5_K takes the fifth bit of weight 32g + l from bit g of byte l", "[quant][q5_k]") {
  auto block = uniform_q5_block();
  block.high[2] = 0b1000'0001;
  const auto w = decoded<Q5_K>(block);
  CHECK(w[2] == 2.0F * (5 + 16) - 1.5F);
  CHECK(w[226] == 2.0F * (5 + 16) - 1.5F);
  CHECK(w[34] == 2.0F * 5 - 1.5F);
}
