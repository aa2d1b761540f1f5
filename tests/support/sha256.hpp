#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lazymoe::test {

/// SHA-256 of bytes in lower-case hexadecimal digits, for tables too long to compare otherwise.
/// @source FIPS 180-4
inline std::string sha256(std::vector<std::uint8_t> message) {
  // The constants are the first 32 bits of the fractions of square and cube roots of the first primes; integers do
  // here what a float could not.
  __extension__ using Wide = unsigned __int128;
  const auto fraction_of_root = [](Wide prime, int power) {
    Wide low = 0;
    Wide high = Wide{1} << 40;  // root * 2^32 lies below
    while (high - low > 1) {
      const Wide mid = (low + high) / 2;
      const Wide scaled = power == 2 ? mid * mid : mid * mid * mid;
      (scaled <= prime << (32 * power) ? low : high) = mid;
    }
    return static_cast<std::uint32_t>(low);
  };
  std::array<std::uint32_t, 64> k{};
  std::array<std::uint32_t, 8> state{};
  std::size_t found = 0;
  for (unsigned n = 2; found < k.size(); ++n) {
    bool prime = true;
    for (unsigned divisor = 2; divisor * divisor <= n; ++divisor) prime = prime && n % divisor != 0;
    if (!prime) continue;
    if (found < state.size()) state[found] = fraction_of_root(n, 2);
    k[found++] = fraction_of_root(n, 3);
  }

  const std::uint64_t bits = 8 * std::uint64_t{message.size()};
  message.push_back(0x80);
  while (message.size() % 64 != 56) message.push_back(0);
  for (int shift = 56; shift >= 0; shift -= 8) message.push_back(static_cast<std::uint8_t>(bits >> shift));

  for (std::size_t at = 0; at < message.size(); at += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | message[at + i];
    for (std::size_t i = 16; i < 64; ++i) {
      const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
      const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + k[i] + w[i];
      const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> step{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += step[i];
  }

  std::string digits;
  for (const auto word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[word >> shift & 15U];
  }
  return digits;
}

}  // namespace lazymoe::test
