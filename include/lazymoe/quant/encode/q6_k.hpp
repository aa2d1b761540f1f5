#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../formats/q6_k.hpp"
#include "../half.hpp"
#include "search.hpp"

namespace lazymoe::quant {

template <>
struct Encoder<Q6_K> {
  static constexpr float error = 0.06F;  // a step of 1/32, up to one more where the largest is cut; scales have 8 bits

  static Q6_K::Block run(std::span<const float, 256> x) noexcept {
    std::array<float, Q6_K::groups> steps{};
    for (std::size_t g = 0; g < steps.size(); ++g) {
      steps[g] = detail::search_scale(x.subspan(16 * g, 16), -32.0F, 31.0F);
    }
    Q6_K::Block block{};
    block.d = to_half(detail::signed_max(steps) / -128.0F);
    const float d = to_float(block.d);
    for (std::size_t g = 0; g < steps.size(); ++g) {
      const float scale = std::clamp(std::nearbyint(steps[g] * detail::reciprocal(d)), -128.0F, 127.0F);
      block.scales[g] = static_cast<std::int8_t>(scale);
      const float inverse = detail::reciprocal(d * scale);
      for (std::size_t i = 16 * g; i < 16 * g + 16; ++i) {
        const auto q = static_cast<unsigned>(std::clamp(std::nearbyint(x[i] * inverse), -32.0F, 31.0F) + 32.0F);
        const std::size_t h = i / 128;
        const std::size_t r = i % 128 / 32;
        auto& low = block.low[64 * h + 32 * (r % 2) + i % 32];
        auto& high = block.high[32 * h + i % 32];
        low = static_cast<std::uint8_t>(low | (q & 15U) << (4 * (r / 2)));
        high = static_cast<std::uint8_t>(high | q >> 4 << (2 * r));
      }
    }
    return block;
  }
};

}  // namespace lazymoe::quant
