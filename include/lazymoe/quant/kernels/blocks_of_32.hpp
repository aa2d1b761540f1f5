#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../formats/iq4_nl.hpp"
#include "../formats/mxfp4.hpp"
#include "../formats/q4_0.hpp"
#include "../formats/q4_1.hpp"
#include "../formats/q5_0.hpp"
#include "../formats/q5_1.hpp"
#include "../formats/q8_0.hpp"
#include "reference.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// How a block of 32 becomes one vector: w[i] = scale(block) * unpack(block)[i], plus an offset for formats
/// that have one. Bytes are signed without an offset and unsigned with one.
template <BlockFormat F>
struct Bytes32;

template <>
struct Bytes32<Q8_0> {
  static float scale(const Q8_0::Block& block) noexcept { return to_float(block.d); }
  static __m256i unpack(const Q8_0::Block& block) noexcept { return simd::avx2::load32(block.q.data()); }
};

template <>
struct Bytes32<Q4_0> {
  static float scale(const Q4_0::Block& block) noexcept { return to_float(block.d); }
  static __m256i unpack(const Q4_0::Block& block) noexcept {
    return _mm256_sub_epi8(simd::avx2::split_nibbles(block.q.data()), _mm256_set1_epi8(8));
  }
};

template <>
struct Bytes32<Q5_0> {
  static float scale(const Q5_0::Block& block) noexcept { return to_float(block.d); }
  static __m256i unpack(const Q5_0::Block& block) noexcept {
    const auto high = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(block.high.data()));
    // Without its fifth bit a weight is nibble - 16: the nibble below four ones.
    const __m256i below = _mm256_and_si256(simd::avx2::bytes_of_clear_bits(high), _mm256_set1_epi8(-16));
    return _mm256_or_si256(simd::avx2::split_nibbles(block.low.data()), below);
  }
};

template <>
struct Bytes32<IQ4_NL> {
  static constexpr bool two_sums = true;
  static float scale(const IQ4_NL::Block& block) noexcept { return to_float(block.d); }
  static __m256i unpack(const IQ4_NL::Block& block) noexcept {
    return simd::avx2::lookup(iq4_values.data(), simd::avx2::split_nibbles(block.q.data()));
  }
};

template <>
struct Bytes32<MXFP4> {
  static constexpr bool two_sums = true;
  static float scale(const MXFP4::Block& block) noexcept { return to_float(block.e); }
  static __m256i unpack(const MXFP4::Block& block) noexcept {
    return simd::avx2::lookup(mxfp4_values.data(), simd::avx2::split_nibbles(block.q.data()));
  }
};

template <>
struct Bytes32<Q4_1> {
  static float scale(const Q4_1::Block& block) noexcept { return to_float(block.d); }
  static float offset(const Q4_1::Block& block) noexcept { return to_float(block.m); }
  static __m256i unpack(const Q4_1::Block& block) noexcept { return simd::avx2::split_nibbles(block.q.data()); }
};

template <>
struct Bytes32<Q5_1> {
  static float scale(const Q5_1::Block& block) noexcept { return to_float(block.d); }
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
concept HasOffset = requires(const typename F::Block& block) { Bytes32<F>::offset(block); };

}  // namespace detail

/// Every format of 32-element blocks: four products of bytes at a time, scaled once a block.
template <BlockFormat F, simd::Avx2Arch Arch>
  requires requires(const typename F::Block& block) { detail::Bytes32<F>::unpack(block); }
struct IntDotKernel<F, Arch> {
  using Block = typename F::Block;
  using Unpack = detail::Bytes32<F>;

  static float run(std::span<const Block> row, const ActivationBlock<F>* y) noexcept {
    Sums even;
    Sums odd;
    if constexpr (!detail::HasTwoSums<F>) {
      for (const auto& block : row) even.add(block, *y++);
    } else {
      const std::size_t paired = row.size() / 2 * 2;
      for (std::size_t b = 0; b < paired; b += 2) {
        even.add(row[b], y[b]);
        odd.add(row[b + 1], y[b + 1]);
      }
      if (paired < row.size()) even.add(row[paired], y[paired]);
    }
    return even.total(odd);
  }

 private:
  struct Sums {
    __m256 products = _mm256_setzero_ps();
    __m256 offsets = _mm256_setzero_ps();  ///< lane 0 only

    void add(const Block& block, const ActivationBlock<F>& y) noexcept {
      using namespace simd::avx2;
      const __m256i w = Unpack::unpack(block);
      const __m256i q = load32(y.q.data());
      const float scale = Unpack::scale(block) * y.d;
      if constexpr (detail::HasOffset<F>) {
        products = add_scaled(products, scale, quad_sums_unsigned(w, q));
        const auto lane0 = [](float v) { return _mm256_zextps128_ps256(_mm_set_ss(v)); };
        offsets = fma(lane0(Unpack::offset(block)), lane0(y.s), offsets);
      } else {
        products = add_scaled(products, scale, quad_sums_signed(w, q));
      }
    }

    [[nodiscard]] float total(const Sums& other) const noexcept {
      const __m256 all = _mm256_add_ps(products, other.products);
      if constexpr (!detail::HasOffset<F>) return simd::avx2::sum(all);
      return simd::avx2::sum(_mm256_add_ps(all, _mm256_add_ps(offsets, other.offsets)));
    }
  };
};

}  // namespace lazymoe::quant

#endif
