#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../formats/q4_k.hpp"
#include "../formats/q5_k.hpp"
#include "../half.hpp"
#include "search.hpp"

namespace lazymoe::quant {

namespace detail {

/// The inverse of unpack_group_params(), into zeroed bytes.
inline void pack_group_params(std::array<std::uint8_t, 12>& s, std::size_t g, GroupParams params) noexcept {
  const auto put = [&s](std::size_t at, int bits) { s[at] = static_cast<std::uint8_t>(s[at] | bits); };
  if (g < 4) {
    put(g, params.scale);
    put(g + 4, params.min);
  } else {
    put(g + 4, (params.scale & 15) | (params.min & 15) << 4);
    put(g - 4, params.scale >> 4 << 6);
    put(g, params.min >> 4 << 6);
  }
}

/// What Q4_K and Q5_K share: scales and minimums, and a code in [0, highest] for every weight.
struct GroupedCodes {
  GroupedCodes(std::span<const float, 256> x, float highest) noexcept {
    std::array<ScaleAndMin, 8> fits;
    for (std::size_t g = 0; g < fits.size(); ++g) fits[g] = search_scale_and_min(x.subspan(32 * g, 32), highest);
    d = to_half(std::ranges::max(fits, {}, &ScaleAndMin::d).d / 63.0F);
    dmin = to_half(std::ranges::max(fits, {}, &ScaleAndMin::min).min / 63.0F);
    const auto six_bits = [](float value, Half unit) {
      return static_cast<std::uint8_t>(std::clamp(std::nearbyint(value * reciprocal(to_float(unit))), 0.0F, 63.0F));
    };
    for (std::size_t g = 0; g < fits.size(); ++g) {
      const GroupParams params{.scale = six_bits(fits[g].d, d), .min = six_bits(fits[g].min, dmin)};
      pack_group_params(scales, g, params);
      const float min = to_float(dmin) * static_cast<float>(params.min);
      const float inverse = reciprocal(to_float(d) * static_cast<float>(params.scale));
      for (std::size_t i = 32 * g; i < 32 * g + 32; ++i) {
        q[i] = static_cast<std::uint8_t>(std::clamp(std::nearbyint((x[i] + min) * inverse), 0.0F, highest));
      }
    }
  }

  Half d{};
  Half dmin{};
  std::array<std::uint8_t, 12> scales{};
  std::array<std::uint8_t, 256> q{};
};

/// Two groups to 32 bytes: the low nibbles of one, and above them those of the other.
inline void pack_nibbles(const std::array<std::uint8_t, 256>& q, std::array<std::uint8_t, 128>& out) noexcept {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t from = 64 * (i / 32) + i % 32;
    out[i] = static_cast<std::uint8_t>((q[from] & 15) | (q[from + 32] & 15) << 4);
  }
}

}  // namespace detail

template <>
struct Encoder<Q4_K> {
  static constexpr float error = 0.2F;  // a step is up to 2/15, and scales and minimums have 6 bits

  static Q4_K::Block run(std::span<const float, 256> x) noexcept {
    const detail::GroupedCodes codes(x, 15.0F);
    Q4_K::Block block{.d = codes.d, .dmin = codes.dmin, .scales = codes.scales, .q = {}};
    detail::pack_nibbles(codes.q, block.q);
    return block;
  }
};

template <>
struct Encoder<Q5_K> {
  static constexpr float error = 0.12F;  // a step is up to 2/31, and scales and minimums have 6 bits

  static Q5_K::Block run(std::span<const float, 256> x) noexcept {
    const detail::GroupedCodes codes(x, 31.0F);
    Q5_K::Block block{.d = codes.d, .dmin = codes.dmin, .scales = codes.scales, .high = {}, .low = {}};
    detail::pack_nibbles(codes.q, block.low);
    for (std::size_t i = 0; i < 256; ++i) {
      auto& high = block.high[i % 32];
      high = static_cast<std::uint8_t>(high | codes.q[i] >> 4 << (i / 32));
    }
    return block;
  }
};

}  // namespace lazymoe::quant
