#pragma once

#include <algorithm>
#include <array>
#include <boost/hana/append.hpp>
#include <boost/hana/type.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <lazymoe/lazymoe.hpp>
#include <lazymoe/quant/encode.hpp>
#include <span>
#include <string_view>

/// 3-bit weights in groups of 64 with one scale; 3.25 bits per weight. A trait like this is all that a format needs.
///     w[i] = d * (q[i] - 3.5),   q in [0, 7]
struct Q3 {
  static constexpr lazymoe::quant::TypeId id{1000};  // any number that GGUF does not use
  static constexpr std::string_view name = "Q3";
  static constexpr std::size_t block_elems = 64;
  static constexpr auto activation = lazymoe::quant::ActivationKind::q8_0;  // what rows are multiplied with

  struct Block {
    lazymoe::quant::Half d;
    std::array<std::uint8_t, 24> q;  ///< weight i: three bits from bit 3i on
  };

  static constexpr void decode(const Block& block, std::span<float, block_elems> out) noexcept {
    const float d = to_float(block.d);
    for (std::size_t i = 0; i < block_elems; ++i) {
      unsigned q = 0;
      for (std::size_t bit = 0; bit < 3; ++bit) {
        const std::size_t at = 3 * i + bit;
        q |= (block.q[at / 8] >> (at % 8) & 1U) << bit;
      }
      out[i] = d * (static_cast<float>(q) - 3.5F);
    }
  }
};
static_assert(lazymoe::quant::WeightFormat<Q3> && lazymoe::quant::block_bytes<Q3> == 26);

/// Lets encode_row<Q3>() write rows. Optional.
template <>
struct lazymoe::quant::Encoder<Q3> {
  static constexpr float error = 0.15F;  // half a step of 2/7, and the rounding of d

  static Q3::Block run(std::span<const float, 64> x) noexcept {
    float largest = 0.0F;
    for (const float v : x) largest = std::max(largest, std::abs(v));
    Q3::Block block{.d = to_half(largest / 3.5F), .q = {}};
    const float inverse = largest > 0.0F ? 3.5F / largest : 0.0F;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto q = static_cast<unsigned>(std::clamp(std::nearbyint(x[i] * inverse + 3.5F), 0.0F, 7.0F));
      for (std::size_t bit = 0; bit < 3; ++bit) {
        const std::size_t at = 3 * i + bit;
        block.q[at / 8] = static_cast<std::uint8_t>(block.q[at / 8] | (q >> bit & 1U) << (at % 8));
      }
    }
    return block;
  }
};

/// The library's formats and this one: for visit_format(), where a type is known at run time only.
inline constexpr auto my_formats = boost::hana::append(lazymoe::quant::formats, boost::hana::type_c<Q3>);
