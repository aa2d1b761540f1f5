#include <cstdint>
#include <cstring>
#include <lazymoe/quant/decode.hpp>
#include <lazymoe/quant/formats/data.hpp>
#include <limits>
#include <span>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

static_assert(BlockFormat<I32> && !WeightFormat<I32> && row_bytes<F64>(3) == 24);

namespace {

/// Numbers of a file, at an odd address, as floats.
template <class T>
std::vector<float> decoded_row(TypeId type, const std::vector<T>& numbers) {
  std::vector<std::byte> bytes(1 + numbers.size() * sizeof(T));
  std::memcpy(bytes.data() + 1, numbers.data(), numbers.size() * sizeof(T));
  std::vector<float> out(numbers.size());
  decode_row({type, 1, numbers.size(), std::span(bytes).subspan(1)}, 0, out);
  return out;
}

}  // namespace

TEST_CASE("numbers kept as data decode to the nearest float", "[quant][data]") {
  CHECK(decoded_row<std::int8_t>(TypeId::i8, {-128, 127}) == std::vector<float>{-128, 127});
  CHECK(decoded_row<std::int16_t>(TypeId::i16, {-32768, 32767}) == std::vector<float>{-32768, 32767});
  CHECK(decoded_row<std::int32_t>(TypeId::i32, {-7, 16777217, 16777219}) == std::vector<float>{-7, 16777216, 16777220});
  CHECK(decoded_row<std::int64_t>(TypeId::i64, {std::numeric_limits<std::int64_t>::min(), 3}) ==
        std::vector<float>{-0x1p63F, 3});
  CHECK(decoded_row<double>(TypeId::f64, {0.1, -1e-50}) == std::vector<float>{0.1F, -0.0F});
}
