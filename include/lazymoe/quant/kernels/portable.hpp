#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../simd/byte_products.hpp"
#include "../formats/iq4_nl.hpp"
#include "../formats/iq4_xs.hpp"
#include "../formats/mxfp4.hpp"
#include "../formats/q2_k.hpp"
#include "../formats/q3_k.hpp"
#include "../formats/q4_0.hpp"
#include "../formats/q4_1.hpp"
#include "../formats/q4_k.hpp"
#include "../formats/q5_0.hpp"
#include "../formats/q5_1.hpp"
#include "../formats/q5_k.hpp"
#include "../formats/q6_k.hpp"
#include "../formats/q8_0.hpp"
#include "tile.hpp"

/// Integer kernels for instruction sets that have none of their own: SSE2, NEON. Loops unpack a block to bytes, which
/// the compiler makes of vectors where it can; products are 16 at a time.
namespace lazymoe::quant {

namespace detail {

/// How a block becomes signed bytes, one for each weight.
template <BlockFormat F>
struct SignedBytes;

/// Low nibbles, then high ones, mapped.
template <class Map>
void nibbles_to_bytes(const std::uint8_t* from, std::int8_t* to, Map&& map) noexcept {
  for (std::size_t l = 0; l < 16; ++l) {
    to[l] = static_cast<std::int8_t>(map(from[l] & 15));
    to[l + 16] = static_cast<std::int8_t>(map(from[l] >> 4));
  }
}

/// Nibbles with a fifth bit each.
inline void five_bits_to_bytes(const std::uint8_t* low, const std::uint8_t* high, std::int8_t* to,
                               int excess) noexcept {
  nibbles_to_bytes(low, to, [](int q) { return q; });
  for (std::size_t i = 0; i < 32; ++i) {
    to[i] = static_cast<std::int8_t>(to[i] + (high[i / 8] >> (i % 8) & 1) * 16 - excess);
  }
}

template <>
struct SignedBytes<Q8_0> {
  static void unpack(const Q8_0::Block& block, std::int8_t* to) noexcept {
    for (std::size_t i = 0; i < 32; ++i) to[i] = block.q[i];
  }
};

template <>
struct SignedBytes<Q4_0> {
  static void unpack(const Q4_0::Block& block, std::int8_t* to) noexcept {
    nibbles_to_bytes(block.q.data(), to, [](int q) { return q - 8; });
  }
};

template <>
struct SignedBytes<Q4_1> {
  static void unpack(const Q4_1::Block& block, std::int8_t* to) noexcept {
    nibbles_to_bytes(block.q.data(), to, [](int q) { return q; });
  }
};

template <>
struct SignedBytes<Q5_0> {
  static void unpack(const Q5_0::Block& block, std::int8_t* to) noexcept {
    five_bits_to_bytes(block.low.data(), block.high.data(), to, 16);
  }
};

template <>
struct SignedBytes<Q5_1> {
  static void unpack(const Q5_1::Block& block, std::int8_t* to) noexcept {
    five_bits_to_bytes(block.low.data(), block.high.data(), to, 0);
  }
};

template <>
struct SignedBytes<IQ4_NL> {
  static void unpack(const IQ4_NL::Block& block, std::int8_t* to) noexcept {
    nibbles_to_bytes(block.q.data(), to, [](int q) { return iq4_values[static_cast<std::size_t>(q)]; });
  }
};

template <>
struct SignedBytes<MXFP4> {
  static void unpack(const MXFP4::Block& block, std::int8_t* to) noexcept {
    nibbles_to_bytes(block.q.data(), to, [](int q) { return mxfp4_values[static_cast<std::size_t>(q)]; });
  }
};

/// Bits [shift, shift + 4) or so of 32 bytes, as `mask` says.
inline void field_to_bytes(const std::uint8_t* from, unsigned shift, int mask, std::int8_t* to) noexcept {
  for (std::size_t l = 0; l < 32; ++l) to[l] = static_cast<std::int8_t>(from[l] >> shift & mask);
}

/// Adds a field times `factor`, less `excess`.
inline void add_field(const std::uint8_t* from, unsigned shift, int mask, int factor, int excess,
                      std::int8_t* to) noexcept {
  for (std::size_t l = 0; l < 32; ++l) {
    to[l] = static_cast<std::int8_t>(to[l] + (from[l] >> shift & mask) * factor - excess);
  }
}

template <>
struct SignedBytes<Q4_K> {
  static void unpack(const Q4_K::Block& block, std::int8_t* to) noexcept {
    for (unsigned g = 0; g < 8; ++g) field_to_bytes(block.q.data() + 32 * (g / 2), 4 * (g % 2), 15, to + 32 * g);
  }
  static int scale(const Q4_K::Block& block, std::size_t g16) noexcept {
    return Q4_K::group_params(block, g16 / 2).scale;
  }
  static int min(const Q4_K::Block& block, std::size_t g16) noexcept { return Q4_K::group_params(block, g16 / 2).min; }
};

template <>
struct SignedBytes<Q5_K> {
  static void unpack(const Q5_K::Block& block, std::int8_t* to) noexcept {
    for (unsigned g = 0; g < 8; ++g) {
      field_to_bytes(block.low.data() + 32 * (g / 2), 4 * (g % 2), 15, to + 32 * g);
      add_field(block.high.data(), g, 1, 16, 0, to + 32 * g);
    }
  }
  static int scale(const Q5_K::Block& block, std::size_t g16) noexcept {
    return Q5_K::group_params(block, g16 / 2).scale;
  }
  static int min(const Q5_K::Block& block, std::size_t g16) noexcept { return Q5_K::group_params(block, g16 / 2).min; }
};

template <>
struct SignedBytes<Q6_K> {
  static void unpack(const Q6_K::Block& block, std::int8_t* to) noexcept {
    for (unsigned run = 0; run < 8; ++run) {
      const unsigned h = run / 4;
      const unsigned r = run % 4;
      field_to_bytes(block.low.data() + 64 * h + 32 * (r % 2), 4 * (r / 2), 15, to + 32 * run);
      add_field(block.high.data() + 32 * h, 2 * r, 3, 16, 32, to + 32 * run);
    }
  }
  static int scale(const Q6_K::Block& block, std::size_t g16) noexcept { return block.scales[g16]; }
};

template <>
struct SignedBytes<Q3_K> {
  static void unpack(const Q3_K::Block& block, std::int8_t* to) noexcept {
    for (unsigned run = 0; run < 8; ++run) {
      field_to_bytes(block.low.data() + 32 * (run / 4), 2 * (run % 4), 3, to + 32 * run);
      add_field(block.high.data(), run, 1, 4, 4, to + 32 * run);
    }
  }
  static int scale(const Q3_K::Block& block, std::size_t g16) noexcept { return Q3_K::group_scale(block, g16); }
};

template <>
struct SignedBytes<Q2_K> {
  static void unpack(const Q2_K::Block& block, std::int8_t* to) noexcept {
    for (unsigned run = 0; run < 8; ++run) {
      field_to_bytes(block.q.data() + 32 * (run / 4), 2 * (run % 4), 3, to + 32 * run);
    }
  }
  static int scale(const Q2_K::Block& block, std::size_t g16) noexcept { return block.scales[g16] & 15; }
  static int min(const Q2_K::Block& block, std::size_t g16) noexcept { return block.scales[g16] >> 4; }
};

template <>
struct SignedBytes<IQ4_XS> {
  static void unpack(const IQ4_XS::Block& block, std::int8_t* to) noexcept {
    for (std::size_t g = 0; g < 8; ++g) {
      nibbles_to_bytes(block.q.data() + 16 * g, to + 32 * g,
                       [](int q) { return iq4_values[static_cast<std::size_t>(q)]; });
    }
  }
  static int scale(const IQ4_XS::Block& block, std::size_t g16) noexcept { return IQ4_XS::group_scale(block, g16 / 2); }
};

/// A block of 32 bytes with one scale and perhaps an offset.
template <BlockFormat F>
struct PortableWeights {
  explicit PortableWeights(const typename F::Block& block) noexcept {
    SignedBytes<F>::unpack(block, bytes.data());
    if constexpr (requires { block.e; }) {
      d = to_float(block.e);
    } else {
      d = to_float(block.d);
    }
    if constexpr (requires { block.m; }) offset = to_float(block.m);
  }

  template <std::size_t>
  [[nodiscard]] const PortableWeights& step() const noexcept {
    return *this;
  }

  template <class Activation>
  [[nodiscard]] std::int32_t add(std::int32_t, const Activation* y) const noexcept {
    const auto first = simd::add_products(simd::Quad{}, bytes.data(), y->q.data());
    return simd::sum(simd::add_products(first, bytes.data() + 16, y->q.data() + 16));
  }

  alignas(16) std::array<std::int8_t, 32> bytes;
  float d;
  float offset = 0.0F;
};

/// A block of 256 bytes with a scale for each 16 and perhaps minimums.
template <BlockFormat F>
requires(F::block_elems == 256) struct PortableWeights<F> {
  explicit PortableWeights(const typename F::Block& block) noexcept : d(to_float(block.d)) {
    SignedBytes<F>::unpack(block, bytes.data());
    for (std::size_t g = 0; g < 16; ++g) scales[g] = SignedBytes<F>::scale(block, g);
    if constexpr (requires { block.dmin; }) {
      dmin = to_float(block.dmin);
      for (std::size_t g = 0; g < 16; ++g) mins[g] = SignedBytes<F>::min(block, g);
    }
  }

  template <std::size_t>
  [[nodiscard]] const PortableWeights& step() const noexcept {
    return *this;
  }

  [[nodiscard]] std::int32_t add(std::int32_t, const ActivationQ8_K* y) const noexcept {
    simd::Quad sums{};
    for (std::size_t g = 0; g < 16; ++g) {
      sums += scales[g] * simd::add_products(simd::Quad{}, bytes.data() + 16 * g, y->q.data() + 16 * g);
    }
    return simd::sum(sums);
  }

  alignas(16) std::array<std::int8_t, 256> bytes;
  std::array<std::int32_t, 16> scales;
  std::array<std::int32_t, 16> mins;  ///< of formats that have them
  float d;
  float dmin = 0.0F;
};

/// One running sum.
template <BlockFormat F>
struct PortableSum {
  template <class Activation>
  void add(const PortableWeights<F>& w, std::int32_t products, const Activation* y) noexcept {
    sum += w.d * y->d * static_cast<float>(products);
    if constexpr (requires { y->s; }) sum += w.offset * y->s;
    if constexpr (requires(typename F::Block block) { block.dmin; }) {
      std::int32_t min_sums = 0;
      for (std::size_t g = 0; g < 16; ++g) min_sums += w.mins[g] * y->sums[g];
      sum -= w.dmin * y->d * static_cast<float>(min_sums);
    }
  }
  [[nodiscard]] float total() const noexcept { return sum; }

  float sum = 0.0F;
};

}  // namespace detail

template <BlockFormat F, simd::SimdArch Arch>
requires(!simd::Avx2Arch<Arch>) && requires(const typename F::Block& block) {
  detail::SignedBytes<F>::unpack(block, static_cast<std::int8_t*>(nullptr));
}
struct BlockDot<F, Arch> {
  static constexpr std::size_t chains = 1;
  static constexpr std::size_t steps = 1;
  using Products = std::int32_t;
  using Sums = detail::PortableSum<F>;
  using Weights = detail::PortableWeights<F>;
};

}  // namespace lazymoe::quant
