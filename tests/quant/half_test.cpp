#include <bit>
#include <cmath>
#include <cstdint>
#include <lazymoe/quant/half.hpp>
#include <limits>

#include "support/catch.hpp"

using namespace lazymoe::quant;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

constexpr Half half(unsigned bits) { return {static_cast<std::uint16_t>(bits)}; }
std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace

static_assert(to_float(half(0x3C00)) == 1.0F && to_float(half(0xC000)) == -2.0F);
static_assert(to_float(half(0x0001)) == 0x1p-24F && to_float(half(0x03FF)) == 1023 * 0x1p-24F);
static_assert(to_float(half(0x7BFF)) == 65504.0F && to_float(half(0xFC00)) == -infinity);

// Ties go to the even neighbour, among normal and subnormal halves alike.
static_assert(to_half(1 + 0x1p-11F).bits == 0x3C00 && to_half(1 + 0x1.8p-10F).bits == 0x3C02);
static_assert(to_half(0x1p-25F).bits == 0 && to_half(0x1.000002p-25F).bits == 1 && to_half(0x1.8p-24F).bits == 2);
static_assert(to_half(0x1.FFFp-15F).bits == 0x0400, "the largest subnormal half rounds up to the least normal one");
static_assert(to_half(65519.0F).bits == 0x7BFF && to_half(65520.0F).bits == 0x7C00 && to_half(-1e9F).bits == 0xFC00);
static_assert(to_half(not_a_number).bits == 0x7E00 && to_half(-0.0F).bits == 0x8000);

static_assert(to_float(BFloat16{0x3F80}) == 1.0F && to_float(BFloat16{0x0001}) == 0x1p-133F);
static_assert(to_bfloat16(1 + 0x1p-8F).bits == 0x3F80 && to_bfloat16(1 + 0x1.8p-7F).bits == 0x3F82);
static_assert(to_bfloat16(3.4e38F).bits == 0x7F80 && to_bfloat16(not_a_number).bits == 0x7FC0);

// e = 0 and 1 are subnormal floats.
static_assert(to_float(E8M0{0}) == 0x1p-128F && to_float(E8M0{1}) == 0x1p-127F && to_float(E8M0{2}) == 0x1p-126F);
static_assert(to_float(UE4M3{0}) == 0 && to_float(UE4M3{0x7F}) == 0 && to_float(UE4M3{1}) == 0x1p-10F);
static_assert(to_float(UE4M3{0x08}) == 0x1p-7F && to_float(UE4M3{0x7E}) == 224 && to_float(UE4M3{0xC4}) == 1.5F);
static_assert(to_float(E8M0{128}) == 1.0F && to_float(E8M0{254}) == 0x1p126F);

TEST_CASE("a half means the same while compiling and while running", "[quant][half]") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto h = half(bits);
    if (bits_of(to_float(h)) != bits_of(detail::half_to_float(h.bits))) FAIL("bits " << bits);
  }
}

TEST_CASE("a half survives the way to float and back", "[quant][half]") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(half(bits));
    const unsigned back = to_half(value).bits;
    if (std::isnan(value) ? back != (0x7E00U | (bits & 0x8000U)) : back != bits) FAIL("bits " << bits);
  }
}

TEST_CASE("a float between two halves becomes the nearer one", "[quant][half]") {
  for (unsigned bits = 0; bits < 0x7BFF; ++bits) {
    const float low = to_float(half(bits));
    const float middle = low + (to_float(half(bits + 1)) - low) / 2;
    const unsigned below = to_half(std::nextafter(middle, 0.0F)).bits;
    const unsigned at = to_half(middle).bits;
    const unsigned above = to_half(std::nextafter(middle, 1e9F)).bits;
    if (below != bits || at != bits + bits % 2 || above != bits + 1) FAIL("bits " << bits);
  }
}

TEST_CASE("a bfloat16 survives the way to float and back", "[quant][half]") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(BFloat16{static_cast<std::uint16_t>(bits)});
    const unsigned back = to_bfloat16(value).bits;
    if (std::isnan(value) ? back != (bits | 0x40U) : back != bits) FAIL("bits " << bits);
  }
}
