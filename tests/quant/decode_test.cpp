#include <bit>
#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/decode.hpp>
#include <span>
#include <string>
#include <vector>

#include "quant/golden.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

TEMPLATE_LIST_TEST_CASE("decode_row gives the bits of the reference on every path, at any address", "[quant][decode]",
                        test::TypeList<formats>) {
  auto bytes = test::read_golden<std::byte>(std::string(TestType::name) + ".blocks");
  const auto expected = test::read_golden<std::uint32_t>(std::string(TestType::name) + ".f32");
  bytes.insert(bytes.begin(), std::byte{});  // now the blocks begin at an odd address
  const std::size_t cols = expected.size();
  const PackedMatrix matrix{TestType::id, 1, cols, std::span(bytes).subspan(1)};

  std::vector<float> scalar(cols);
  std::vector<float> fast(cols);
  decode_row<simd::Scalar>(matrix, 0, scalar);
  decode_row(matrix, 0, fast);
  for (std::size_t i = 0; i < cols; ++i) {
    if (std::bit_cast<std::uint32_t>(scalar[i]) != expected[i]) FAIL("scalar, element " << i);
    if (std::bit_cast<std::uint32_t>(fast[i]) != expected[i]) FAIL("default, element " << i);
  }
}

TEST_CASE("decode_row decodes the row it is asked for", "[quant][decode]") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const PackedMatrix matrix{TypeId::f32, 3, 2, std::as_bytes(std::span(values))};
  std::vector<float> out(2);
  decode_row(matrix, 1, out);
  CHECK(out == std::vector<float>{3, 4});
}
