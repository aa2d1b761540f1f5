#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "../formats/iq4_nl.hpp"
#include "../formats/mxfp4.hpp"
#include "../half.hpp"
#include "search.hpp"

namespace lazymoe::quant {

namespace detail {

/// Halfway between neighbours among the first N of a table that ascends there.
template <std::size_t N>
[[nodiscard]] constexpr std::array<float, N - 1> midpoints(const std::array<std::int8_t, 16>& table) noexcept {
  std::array<float, N - 1> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 0.5F * static_cast<float>(table[i] + table[i + 1]);
  return out;
}

/// How many of the numbers are below `value`.
template <std::size_t N>
[[nodiscard]] unsigned count_below(const std::array<float, N>& numbers, float value) noexcept {
  unsigned n = 0;
  for (const float m : numbers) n += value > m ? 1U : 0U;
  return n;
}

/// Code of the entry of IQ4_NL nearest to `value`.
struct NearestIq4 {
  static constexpr auto bounds = midpoints<16>(iq4_values);
  unsigned operator()(float value) const noexcept { return count_below(bounds, value); }
};

/// Code of the entry of MXFP4 nearest to `value`: a magnitude, and a sign unless that is 0.
struct NearestMxfp4 {
  static constexpr auto bounds = midpoints<8>(mxfp4_values);
  unsigned operator()(float value) const noexcept {
    const unsigned magnitude = count_below(bounds, std::abs(value));
    return value < 0.0F && magnitude != 0 ? magnitude | 8U : magnitude;
  }
};

/// The nearest codes for x * inverse as split nibbles.
template <class Nearest>
[[nodiscard]] std::array<std::uint8_t, 16> nearest_codes(Nearest nearest, std::span<const float, 32> x,
                                                         float inverse) noexcept {
  std::array<std::uint8_t, 16> q{};
  for (std::size_t l = 0; l < q.size(); ++l) {
    q[l] = static_cast<std::uint8_t>(nearest(x[l] * inverse) | nearest(x[l + 16] * inverse) << 4);
  }
  return q;
}

}  // namespace detail

/// Guesses bring the number of largest magnitude near either end of the table, which is not symmetric.
template <>
struct Encoder<IQ4_NL> {
  static constexpr float error = 0.2F;  // half the widest gap, 23 / 2 / 113, and as much where the largest is cut

  static IQ4_NL::Block run(std::span<const float, 32> x) noexcept {
    const float to_one = detail::reciprocal(detail::signed_max(x));
    constexpr int steps = 9;
    const auto inverse_of = [=](int t) {
      const float end = t < steps ? iq4_values.front() : iq4_values.back();
      return end * (1.0F + 0.025F * static_cast<float>(t % steps - steps / 2)) * to_one;
    };
    const auto code = [](float v) { return static_cast<float>(iq4_values[detail::NearestIq4{}(v)]); };
    const float best = to_one == 0.0F ? 0.0F : detail::search_scale(x, 2 * steps, inverse_of, code);
    const Half d = to_half(best);
    return {.d = d, .q = detail::nearest_codes(detail::NearestIq4{}, x, detail::reciprocal(to_float(d)))};
  }
};

/// The largest number falls in the last octave of the table, where it may be cut, or in the one before.
template <>
struct Encoder<MXFP4> {
  static constexpr float error = 0.26F;  // 8, or all but, is cut to 6

  static MXFP4::Block run(std::span<const float, 32> x) noexcept {
    // The exponent of the largest number is that of 4 in the last octave, and the scale is halved: see E8M0.
    const auto bits = std::bit_cast<std::uint32_t>(std::abs(detail::signed_max(x)));
    const int exponent = static_cast<int>(bits >> 23) - 2;
    MXFP4::Block best{};
    float least = std::numeric_limits<float>::infinity();
    for (const int e : {exponent, exponent + 1}) {
      MXFP4::Block block{.e = {static_cast<std::uint8_t>(std::clamp(e, 0, 254))}, .q = {}};
      block.q = detail::nearest_codes(detail::NearestMxfp4{}, x, detail::reciprocal(to_float(block.e)));
      std::array<float, 32> w{};
      MXFP4::decode(block, w);
      float sum = 0.0F;
      for (std::size_t i = 0; i < w.size(); ++i) sum += (x[i] - w[i]) * (x[i] - w[i]);
      if (sum < least) {
        least = sum;
        best = block;
      }
    }
    return best;
  }
};

}  // namespace lazymoe::quant
