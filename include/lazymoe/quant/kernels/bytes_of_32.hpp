#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/iq4_nl.hpp"
#include "../formats/mxfp4.hpp"
#include "../formats/q4_0.hpp"
#include "../formats/q4_1.hpp"
#include "../formats/q5_0.hpp"
#include "../formats/q5_1.hpp"
#include "../formats/q8_0.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant::detail {

/// The scales of MXFP4 by their bits: a look-up is quicker than the case of subnormal numbers.
inline constexpr auto powers_of_two = [] {
  std::array<float, 256> table{};
  for (std::size_t e = 0; e < table.size(); ++e) table[e] = to_float(E8M0{static_cast<std::uint8_t>(e)});
  return table;
}();

/// How a block of 32 becomes one vector: w[i] = scale(block)[any] * unpack(block)[i], plus an offset for formats
/// that have one. Bytes are signed without an offset and unsigned with one. Formats whose signed bytes are unsigned
/// ones less something have these two as `unpack_unsigned` and `excess` as well: cheaper where nothing is shared.
template <BlockFormat F>
struct Bytes32;

template <>
struct Bytes32<Q8_0> {
  static __m256 scale(const Q8_0::Block& block) noexcept { return all_lanes(block.d); }
  static __m256i unpack(const Q8_0::Block& block) noexcept {
    __m256i q = simd::avx2::load32(block.q.data());
    simd::avx2::keep_in_register(q);  // or compilers load it for the signs and again for the magnitudes
    return q;
  }
};

template <>
struct Bytes32<Q4_0> {
  static __m256 scale(const Q4_0::Block& block) noexcept { return all_lanes(block.d); }
  static __m256i unpack(const Q4_0::Block& block) noexcept {
    return _mm256_sub_epi8(unpack_unsigned(block), excess(block));
  }
  static __m256i unpack_unsigned(const Q4_0::Block& block) noexcept {
    return simd::avx2::split_nibbles(block.q.data());
  }
  static __m256i excess(const Q4_0::Block&) noexcept { return _mm256_set1_epi8(8); }
};

template <>
struct Bytes32<Q5_0> {
  static __m256 scale(const Q5_0::Block& block) noexcept { return all_lanes(block.d); }
  static __m256i unpack(const Q5_0::Block& block) noexcept {
    // Without its fifth bit a weight is nibble - 16: the nibble below four ones.
    const __m256i below = _mm256_and_si256(clear_bits(block), _mm256_set1_epi8(-16));
    return _mm256_or_si256(unpack_unsigned(block), below);
  }
  static __m256i unpack_unsigned(const Q5_0::Block& block) noexcept {
    return simd::avx2::split_nibbles(block.low.data());
  }
  static __m256i excess(const Q5_0::Block& block) noexcept {
    return _mm256_and_si256(clear_bits(block), _mm256_set1_epi8(16));
  }

 private:
  static __m256i clear_bits(const Q5_0::Block& block) noexcept {
    const auto high = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(block.high.data()));
    return simd::avx2::bytes_of_clear_bits(high);
  }
};

template <>
struct Bytes32<IQ4_NL> {
  static constexpr bool two_sums = true;
  static __m256 scale(const IQ4_NL::Block& block) noexcept { return all_lanes(block.d); }
  static __m256i unpack(const IQ4_NL::Block& block) noexcept {
    return simd::avx2::lookup(iq4_values.data(), simd::avx2::split_nibbles(block.q.data()));
  }
};

template <>
struct Bytes32<MXFP4> {
  static constexpr bool two_sums = true;
  static __m256 scale(const MXFP4::Block& block) noexcept { return all_lanes(powers_of_two[block.e.bits]); }
  static __m256i unpack(const MXFP4::Block& block) noexcept {
    return simd::avx2::lookup(mxfp4_values.data(), simd::avx2::split_nibbles(block.q.data()));
  }
};

template <>
struct Bytes32<Q4_1> {
  static __m256 scale(const Q4_1::Block& block) noexcept { return all_lanes(block.d); }
  static float offset(const Q4_1::Block& block) noexcept { return to_float(block.m); }
  static __m256i unpack(const Q4_1::Block& block) noexcept { return simd::avx2::split_nibbles(block.q.data()); }
};

template <>
struct Bytes32<Q5_1> {
  static __m256 scale(const Q5_1::Block& block) noexcept { return all_lanes(block.d); }
  static float offset(const Q5_1::Block& block) noexcept { return to_float(block.m); }
  static __m256i unpack(const Q5_1::Block& block) noexcept {
    const auto high = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(block.high.data()));
    const __m256i above = _mm256_andnot_si256(simd::avx2::bytes_of_clear_bits(high), _mm256_set1_epi8(16));
    return _mm256_or_si256(simd::avx2::split_nibbles(block.low.data()), above);
  }
};

/// Whether even and odd blocks have sums of their own; the reference has it so for the formats with tables.
template <class F>
concept HasTwoSums = Bytes32<F>::two_sums;

template <class F>
concept HasOffset = requires(const typename F::Block& block) {
  Bytes32<F>::offset(block);
};

template <class F>
concept HasExcess = requires(const typename F::Block& block) {
  Bytes32<F>::excess(block);
};

}  // namespace lazymoe::quant::detail

#endif
