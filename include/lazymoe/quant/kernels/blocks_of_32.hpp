#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

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

namespace lazymoe::quant {

namespace detail {

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
  static __m256i unpack(const Q8_0::Block& block) noexcept { return simd::avx2::load32(block.q.data()); }
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

/// A block of 32 bytes without an offset.
template <BlockFormat F>
struct Weights32 {
  explicit Weights32(const typename F::Block& block) noexcept
      : d(Bytes32<F>::scale(block)), run(Bytes32<F>::unpack(block)) {}

  struct Run {
    explicit Run(__m256i weights) noexcept : signs(weights), magnitudes(_mm256_abs_epi8(weights)) {}

    template <class Activation>
    [[nodiscard]] __m256i add(__m256i, const Activation* y) const noexcept {
      using namespace simd::avx2;
      return quad_sums_unsigned(magnitudes, _mm256_sign_epi8(load32(y->q.data()), signs));
    }

    __m256i signs;
    __m256i magnitudes;
  };

  template <std::size_t>
  [[nodiscard]] const Run& step() const noexcept {
    return run;
  }

  __m256 d;
  Run run;
};

/// The first two numbers of a block that starts with halves: one load into the register that converts them.
[[nodiscard]] LAZYMOE_INLINE inline __m128 first_halves(const Half& first) noexcept {
#if defined(__F16C__)
  const auto two = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(&first));
  return _mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(two)));
#else
  return _mm_setr_ps(to_float(first), to_float(*(&first + 1)), 0.0F, 0.0F);
#endif
}

/// The same block for one activation: scales are multiplied before they are spread.
template <BlockFormat F>
struct WeightsOfOne32 {
  explicit WeightsOfOne32(const typename F::Block& of) noexcept : block(of) {}

  struct Run {
    const typename F::Block& block;

    template <class Activation>
    [[nodiscard]] __m256i add(__m256i, const Activation* y) const noexcept {
      using namespace simd::avx2;
      const __m256i q = load32(y->q.data());
      if constexpr (HasExcess<F>) {
        const __m256i pairs = pair_sums(Bytes32<F>::unpack_unsigned(block), q);
        const __m256i too_much = pair_sums(Bytes32<F>::excess(block), q);
        return scaled_sums(_mm256_sub_epi16(pairs, too_much), _mm256_set1_epi16(1));
      } else {
        return quad_sums_signed(Bytes32<F>::unpack(block), q);
      }
    }
  };

  template <std::size_t>
  [[nodiscard]] Run step() const noexcept {
    return {block};
  }

  /// The scale times `factor` in all lanes.
  [[nodiscard]] __m256 times(float factor) const noexcept {
    if constexpr (requires { block.e; }) {
      return _mm256_set1_ps(powers_of_two[block.e.bits] * factor);
    } else {
      return _mm256_broadcastss_ps(_mm_mul_ss(first_halves(block.d), _mm_set_ss(factor)));
    }
  }

  const typename F::Block& block;
};

/// d and s of an activation, then zeros.
[[nodiscard]] LAZYMOE_INLINE inline __m128 scale_and_sum(const ActivationQ8_1& y) noexcept {
  return _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(&y.d)));
}

/// A block of 32 unsigned bytes and an offset.
template <BlockFormat F>
struct WeightsWithOffset {
  explicit WeightsWithOffset(const typename F::Block& block) noexcept
      : d(Bytes32<F>::scale(block)),
        offset(_mm_setr_ps(0.0F, Bytes32<F>::offset(block), 0.0F, 0.0F)),
        run{Bytes32<F>::unpack(block)} {}

  struct Run {
    __m256i weights;

    [[nodiscard]] __m256i add(__m256i, const ActivationQ8_1* y) const noexcept {
      return simd::avx2::quad_sums_unsigned(weights, simd::avx2::load32(y->q.data()));
    }
  };

  template <std::size_t>
  [[nodiscard]] const Run& step() const noexcept {
    return run;
  }

  __m256 d;
  __m128 offset;  ///< lane 1
  Run run;
};

/// The same block for one activation. Halves have 11 bits: their products are exact, so that adding one is the same as
/// a fused multiply-add.
template <BlockFormat F>
struct WeightsOfOneWithOffset {
  explicit WeightsOfOneWithOffset(const typename F::Block& of) noexcept : block(of) {}

  template <std::size_t>
  [[nodiscard]] typename WeightsWithOffset<F>::Run step() const noexcept {
    return {Bytes32<F>::unpack(block)};
  }

  /// Scale times scale and offset times sum, in lanes 0 and 1.
  [[nodiscard]] __m128 factors(const ActivationQ8_1& y) const noexcept {
    return _mm_mul_ps(first_halves(block.d), scale_and_sum(y));
  }

  const typename F::Block& block;
};

/// Sums with a lane of offsets beside them.
struct SumsWithOffset : SumsOfEight {
  template <BlockFormat F>
  void add(const WeightsWithOffset<F>& w, __m256i products, const ActivationQ8_1* y) noexcept {
    SumsOfEight::add(w, products, y);
    offsets = simd::avx2::fma(w.offset, scale_and_sum(*y), offsets);
  }
  template <BlockFormat F>
  void add(const WeightsOfOneWithOffset<F>& w, __m256i products, const ActivationQ8_1* y) noexcept {
    const __m128 factors = w.factors(*y);
    eight = simd::avx2::fma(_mm256_broadcastss_ps(factors), _mm256_cvtepi32_ps(products), eight);
    offsets = _mm_add_ps(offsets, factors);
  }
  [[nodiscard]] float total() const noexcept {
    const __m128 offset = _mm_move_ss(_mm_setzero_ps(), _mm_movehdup_ps(offsets));
    return simd::avx2::sum(_mm256_add_ps(eight, _mm256_zextps128_ps256(offset)));
  }

  __m128 offsets = _mm_setzero_ps();  ///< lane 1
};

}  // namespace detail

/// Every format of 32-element blocks: four products of bytes at a time, scaled once a block.
template <BlockFormat F, simd::Avx2Arch Arch>
requires requires(const typename F::Block& block) { detail::Bytes32<F>::unpack(block); }
struct BlockDot<F, Arch> {
  static constexpr std::size_t chains = detail::HasTwoSums<F> ? 2 : 1;
  static constexpr std::size_t steps = 1;
  using Products = __m256i;
  using Sums = std::conditional_t<detail::HasOffset<F>, detail::SumsWithOffset, detail::SumsOfEight>;
  using Weights = std::conditional_t<detail::HasOffset<F>, detail::WeightsWithOffset<F>, detail::Weights32<F>>;
  using WeightsOfOne =
      std::conditional_t<detail::HasOffset<F>, detail::WeightsOfOneWithOffset<F>, detail::WeightsOfOne32<F>>;
};

}  // namespace lazymoe::quant

#endif
