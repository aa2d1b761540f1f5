#include <lazymoe/core/bytes.hpp>

#include "support/catch.hpp"

namespace lazymoe {

static_assert(align_up(0U, 32U) == 0 && align_up(1U, 32U) == 32 && align_up(32U, 32U) == 32);
static_assert(align_down(63U, 32U) == 32);
static_assert(div_ceil(0, 3) == 0 && div_ceil(4, 3) == 2);
static_assert(checked_add<std::uint64_t>(1, 2) == 3U);
static_assert(!checked_add<std::uint64_t>(~0ULL, 1));
static_assert(checked_mul<std::uint64_t>(1ULL << 32, 1ULL << 31) == 1ULL << 63);
static_assert(!checked_mul<std::uint64_t>(1ULL << 32, 1ULL << 32));

TEST_CASE("load_as reads unaligned little-endian values", "[core]") {
  const std::byte raw[] = {std::byte{0xFF}, std::byte{0x78}, std::byte{0x56}, std::byte{0x34}, std::byte{0x12}};
  CHECK(load_as<std::uint32_t>(raw + 1) == 0x12345678U);
  CHECK(load_as<std::uint16_t>(raw) == 0x78FFU);
}

}  // namespace lazymoe
