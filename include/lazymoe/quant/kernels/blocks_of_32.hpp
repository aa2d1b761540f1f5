#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "../../simd/widen.hpp"
#include "bytes_of_32.hpp"
#include "tile.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

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

/// The scales of eight blocks times those of an activation: the former gathered and converted, all multiplied at once,
/// and then in memory, where a number comes from that spreads for free.
template <BlockFormat F>
class ScalesOfEight {
 public:
  static constexpr std::size_t blocks = 8;

  [[nodiscard]] static __m256 of(const ActivationQ8_0* y) noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(y) + offsetof(ActivationQ8_0, d);
    return _mm256_load_ps(reinterpret_cast<const float*>(bytes));
  }
  [[nodiscard]] static __m256 of(const typename F::Block* w) noexcept {
    const auto bits = [w](std::size_t b) { return static_cast<short>(w[b].d.bits); };
    return floats_of_halves(_mm_setr_epi16(bits(0), bits(1), bits(2), bits(3), bits(4), bits(5), bits(6), bits(7)));
  }

  void fill(const typename F::Block* w, __m256 y) noexcept {
    _mm256_store_ps(products_.data(), _mm256_mul_ps(of(w), y));
  }
  /// In all lanes.
  [[nodiscard]] __m256 operator[](std::size_t b) const noexcept { return _mm256_broadcast_ss(&products_[b]); }

 private:
  alignas(32) std::array<float, blocks> products_;
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

/// Which formats take the scales of several blocks at once: those whose scales are halves and the only ones.
template <BlockFormat F>
struct StripsOf {};
template <BlockFormat F>
requires(!HasOffset<F> && !std::is_same_v<F, MXFP4>) struct StripsOf<F> {
  using ScaleStrip = ScalesOfEight<F>;
};

}  // namespace detail

/// Every format of 32-element blocks: four products of bytes at a time, scaled once a block.
template <BlockFormat F, simd::Avx2Arch Arch>
requires requires(const typename F::Block& block) { detail::Bytes32<F>::unpack(block); }
struct BlockDot<F, Arch> : detail::StripsOf<F> {
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
