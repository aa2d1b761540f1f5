#include <lazymoe/gguf/detail/tensor_bytes.hpp>

#include "support/catch.hpp"

namespace lazymoe::gguf::detail {
namespace {

using Catch::Matchers::Contains;
using quant::TypeId;
using Dims = std::array<std::uint64_t, 4>;

constexpr std::uint64_t two_to(int n) { return std::uint64_t{1} << n; }

}  // namespace

TEST_CASE("A tensor takes whole blocks per row", "[gguf]") {
  CHECK(tensor_bytes({7, 1, 1, 1}, TypeId::f32, "t") == 28);
  CHECK(tensor_bytes({64, 3, 2, 1}, TypeId::q8_0, "t") == 2 * 34 * 3 * 2);
  CHECK(tensor_bytes({2048, 768, 128, 1}, TypeId::q4_K, "t") == 2048 / 256 * 144 * 768 * 128);
  CHECK_THROWS_WITH(tensor_bytes({33, 32, 1, 1}, TypeId::q8_0, "f: tensor 't'"),
                    Contains("f: tensor 't': rows of 33 elements are not a multiple of the block of Q8_0, 32"));
}

TEST_CASE("Dimensions that wrap are refused, however harmless the product looks", "[gguf]") {
  const auto [dims, message] = GENERATE(table<Dims, std::string>({
      {{two_to(32), two_to(32), 1, 1}, "the number of elements overflows"},  // wraps to 0
      {{two_to(63) - 1, 2, 1, 1}, "the number of elements overflows"},       // negative as int64
      {{two_to(32), two_to(31), 1, 1}, "the number of elements overflows"},  // 2^63: one too many for int64
      {{two_to(62), 4, two_to(62), 4}, "the number of elements overflows"},  // wraps twice
      {{two_to(62), 1, 1, 1}, "the number of bytes overflows"},              // times 4 is 2^64
      {{two_to(63), 1, 1, 1}, "dimension 9223372036854775808 is negative"},
      {{32, ~std::uint64_t{0}, 1, 1}, "dimension 18446744073709551615 is negative"},  // -1
      {{0, 1, 1, 1}, "a dimension is 0"},
      {{32, 0, two_to(63), 1}, "a dimension is 0"},
  }));
  CHECK_THROWS_WITH(tensor_bytes(dims, TypeId::f32, "t"), Contains("t: " + message));
}

TEST_CASE("The largest size that can be counted is still counted", "[gguf]") {
  // The file will be too short for it; that is for the caller to see, without any wrap.
  CHECK(tensor_bytes({two_to(62) - 1, 1, 1, 1}, TypeId::f32, "t") == ~std::uint64_t{0} - 3);
}

}  // namespace lazymoe::gguf::detail
