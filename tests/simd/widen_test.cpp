#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lazymoe/simd/widen.hpp>
#include <numeric>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe::simd;

TEST_CASE("unroll passes each index as a constant", "[simd]") {
  std::vector<std::size_t> seen;
  unroll<3>([&](auto i) {
    constexpr std::size_t constant = i;
    seen.push_back(constant);
  });
  CHECK(seen == std::vector<std::size_t>{0, 1, 2});
}

#if defined(__AVX2__)

namespace {

using Bytes32 = std::array<std::uint8_t, 32>;

template <class T>
auto stored(__m256i v) {
  std::array<T, 32 / sizeof(T)> out;
  std::memcpy(out.data(), &v, sizeof(v));
  return out;
}

Bytes32 counting(unsigned step) {
  Bytes32 bytes{};
  for (std::size_t i = 0; i < 32; ++i) bytes[i] = static_cast<std::uint8_t>(i * step);
  return bytes;
}

}  // namespace

TEST_CASE("byte shifts keep what the mask keeps", "[simd]") {
  const auto in = counting(37);
  const auto v = avx2::load32(in.data());
  const auto right = stored<std::uint8_t>(avx2::shift_and<3>(v, 0x1F));
  const auto left = stored<std::uint8_t>(avx2::shift_and<-2>(v, 0x30));
  for (std::size_t i = 0; i < 32; ++i) {
    CHECK(int{right[i]} == in[i] >> 3);
    CHECK(int{left[i]} == ((in[i] << 2) & 0x30));
  }
}

TEST_CASE("nibbles split into lower and upper halves", "[simd]") {
  const auto in = counting(29);
  const auto out = stored<std::uint8_t>(avx2::split_nibbles(in.data()));
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(int{out[i]} == (in[i] & 15));
    CHECK(int{out[i + 16]} == in[i] >> 4);
  }
}

TEST_CASE("clear bits become bytes of ones", "[simd]") {
  const std::uint32_t bits = 0x9A5501F3;
  const auto out = stored<std::uint8_t>(avx2::bytes_of_clear_bits(bits));
  for (std::size_t i = 0; i < 32; ++i) CHECK(int{out[i]} == (((bits >> i) & 1) != 0 ? 0 : 255));
}

TEST_CASE("spread_word repeats one lane of each half", "[simd]") {
  std::array<std::int16_t, 16> in{};
  std::iota(in.begin(), in.end(), std::int16_t{-5});
  const auto out = stored<std::int16_t>(avx2::spread_word<3>(avx2::load32(in.data())));
  for (std::size_t i = 0; i < 16; ++i) CHECK(int{out[i]} == (i < 8 ? -2 : 6));
}

TEST_CASE("sums of byte products are exact at their extremes", "[simd]") {
  std::array<std::int8_t, 32> w{};
  std::array<std::int8_t, 32> y{};
  for (std::size_t i = 0; i < 32; ++i) {
    w[i] = static_cast<std::int8_t>(i % 3 == 0 ? -128 : i % 3 == 1 ? 127 : 0);
    y[i] = static_cast<std::int8_t>(i % 2 == 0 ? -127 : 127);
  }
  const auto out = stored<std::int32_t>(avx2::quad_sums_signed(avx2::load32(w.data()), avx2::load32(y.data())));
  for (std::size_t k = 0; k < 8; ++k) {
    int expected = 0;
    for (std::size_t i = 4 * k; i < 4 * k + 4; ++i) expected += w[i] * y[i];
    CHECK(out[k] == expected);
  }
}

TEST_CASE("sums of products of words and unsigned bytes are those of one number after the other", "[simd]") {
  std::array<std::uint8_t, 32> u{};
  std::array<std::int8_t, 32> s{};
  std::array<std::int16_t, 16> pairs{};
  std::array<std::int16_t, 16> scales{};
  std::array<std::int32_t, 8> so_far{};
  for (std::size_t i = 0; i < 32; ++i) {
    u[i] = static_cast<std::uint8_t>(i % 5 == 0 ? 128 : 11 * i % 128);
    s[i] = static_cast<std::int8_t>(i % 7 == 0 ? -127 : 37 * static_cast<int>(i) % 127 - 60);
  }
  for (std::size_t i = 0; i < 16; ++i) {
    pairs[i] = static_cast<std::int16_t>(i % 4 == 0 ? -32767 : 4001 * static_cast<int>(i) % 32768);
    scales[i] = static_cast<std::int16_t>(i % 3 == 0 ? -128 : 63);
    so_far[i / 2] = static_cast<std::int32_t>(i) * 1000 - 5000;
  }
  const auto quads = stored<std::int32_t>(avx2::quad_sums_unsigned(avx2::load32(u.data()), avx2::load32(s.data())));
  const auto added = stored<std::int32_t>(
      avx2::add_scaled_sums(avx2::load32(so_far.data()), avx2::load32(pairs.data()), avx2::load32(scales.data())));
  for (std::size_t k = 0; k < 8; ++k) {
    int expected = 0;
    for (std::size_t i = 4 * k; i < 4 * k + 4; ++i) expected += u[i] * s[i];
    CHECK(quads[k] == expected);
    CHECK(added[k] == so_far[k] + pairs[2 * k] * scales[2 * k] + pairs[2 * k + 1] * scales[2 * k + 1]);
  }
}

TEST_CASE("the sum of eight lanes is the sum", "[simd]") {
  CHECK(avx2::sum(_mm256_setr_ps(1, 2, 3, 4, 5, 6, 7, 8)) == 36.0F);
}

#endif

#if defined(__AVX2__)
TEST_CASE("all_lanes puts one number everywhere", "[simd]") {
  alignas(32) std::array<float, 8> lanes{};
  _mm256_store_ps(lanes.data(), lazymoe::simd::avx2::all_lanes(-1.5F));
  CHECK(lanes == std::array<float, 8>{-1.5F, -1.5F, -1.5F, -1.5F, -1.5F, -1.5F, -1.5F, -1.5F});
#if defined(__F16C__)
  _mm256_store_ps(lanes.data(), lazymoe::simd::avx2::all_lanes_of_half(0x3C00));
  CHECK(lanes == std::array<float, 8>{1, 1, 1, 1, 1, 1, 1, 1});
#endif
}
#endif
