#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "detail/grid_words.hpp"

namespace lazymoe::quant {

namespace detail {

/// The table of a grid: byte e of an entry is the level that field e of its word names. Fields have 2 bits in
/// words of 8 values and 3 bits in words of 4.
template <std::unsigned_integral Entry, std::size_t N, std::size_t Levels>
constexpr std::array<Entry, N> expand(const std::array<std::uint16_t, N>& words,
                                      const std::array<std::int8_t, Levels>& levels) noexcept {
  constexpr unsigned bits = sizeof(Entry) == 8 ? 2 : 3;
  std::array<Entry, N> table{};
  for (std::size_t n = 0; n < N; ++n) {
    Entry entry = 0;
    for (unsigned e = 0; e < sizeof(Entry); ++e) {
      const auto level = levels[(words[n] >> (bits * e)) & ((1U << bits) - 1)];
      entry |= static_cast<Entry>(Entry{static_cast<std::uint8_t>(level)} << (8 * e));
    }
    table[n] = entry;
  }
  return table;
}

inline constexpr std::array<std::int8_t, 3> iq2_levels{8, 25, 43};
inline constexpr std::array<std::int8_t, 8> iq3_xxs_levels{4, 12, 20, 28, 36, 44, 52, 62};
inline constexpr std::array<std::int8_t, 8> iq3_s_levels{1, 3, 5, 7, 9, 11, 13, 15};
inline constexpr std::array<std::int8_t, 3> iq1_levels{-1, 0, 1};

}  // namespace detail

// The codebooks: points of lattices in 8 or 4 dimensions that ggml chose by clustering the weights of models. No
// formula gives them. Byte e of an entry is value e; signs are kept apart from magnitudes except in IQ1.
// @source ggml-common.h (MIT licence), iq2xxs_grid and its neighbours

inline constexpr auto iq2_xxs_grid = detail::expand<std::uint64_t>(detail::iq2_xxs_words, detail::iq2_levels);
inline constexpr auto iq2_xs_grid = detail::expand<std::uint64_t>(detail::iq2_xs_words, detail::iq2_levels);
inline constexpr auto iq2_s_grid = detail::expand<std::uint64_t>(detail::iq2_s_words, detail::iq2_levels);
inline constexpr auto iq3_xxs_grid = detail::expand<std::uint32_t>(detail::iq3_xxs_words, detail::iq3_xxs_levels);
inline constexpr auto iq3_s_grid = detail::expand<std::uint32_t>(detail::iq3_s_words, detail::iq3_s_levels);
inline constexpr auto iq1_grid = detail::expand<std::uint64_t>(detail::iq1_s_words, detail::iq1_levels);

/// Value `e` of an entry.
[[nodiscard]] constexpr int grid_value(std::unsigned_integral auto entry, std::size_t e) noexcept {
  return static_cast<std::int8_t>(static_cast<std::uint8_t>(entry >> (8 * e)));
}

/// The signs of 8 weights from 7 bits: the number of minus signs is even, so that the last one need not be kept.
[[nodiscard]] constexpr unsigned even_signs(unsigned seven) noexcept {
  return seven | (static_cast<unsigned>(std::popcount(seven)) & 1U) << 7;
}

/// out[e] = scale * (value e of the entry), with the sign that bit e of `signs` says: set is minus.
constexpr void decode_entry(std::unsigned_integral auto entry, unsigned signs, float scale,
                            std::span<float, sizeof(entry)> out) noexcept {
  for (std::size_t e = 0; e < sizeof(entry); ++e) {
    const int value = grid_value(entry, e);
    out[e] = scale * static_cast<float>((signs >> e & 1U) != 0 ? -value : value);
  }
}

/// Two neighbouring bytes as a number, little-endian.
[[nodiscard, gnu::always_inline]] constexpr unsigned two_bytes(std::span<const std::uint8_t, 2> bytes) noexcept {
  return bytes[0] | static_cast<unsigned>(bytes[1]) << 8;
}

/// Four neighbouring bytes as a number, little-endian.
[[nodiscard]] constexpr std::uint32_t four_bytes(std::span<const std::uint8_t, 4> bytes) noexcept {
  return two_bytes(bytes.first<2>()) | static_cast<std::uint32_t>(two_bytes(bytes.last<2>())) << 16;
}

}  // namespace lazymoe::quant
