#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "../../core/bytes.hpp"
#include "../../simd/widen.hpp"
#include "../half.hpp"
#include "fetch_ahead.hpp"
#include "reference.hpp"

namespace lazymoe::quant {

/// How blocks of `F` meet activations on one ISA: the one description from which dot products of a row, panels of rows
/// and tiles of activations are made, all with the same bits. Formats and ISAs without one have the reference alone.
///
/// A specialisation has
///   chains                 running sums a row has: block b adds to sum b % chains, and they are added at the end
///   steps                  parts of a block, usually runs of 32 weights, whose vectors fit a few registers
///   Products               what a block and an activation sum exactly, in integers: usually eight int32; starts at {}
///   Weights                a block made ready: everything that no activation changes (scales, minimums). Constructed
///                          from a `const F::Block&` that outlives it
///   Weights::step<S>()     the vectors of part S, which stay in registers while several activations meet them: an
///                          object with `Products add(Products, const ActivationBlock<F>*) const`
///   Sums                   running float sums of a row; start at {}. `add(const Weights&, Products, const
///                          ActivationBlock<F>*)` scales once a block; `total()`, or `total(other)` with two chains
/// and may have
///   WeightsOfOne           in the place of Weights where a block meets one activation only: what pays when several
///                          share it is left out
///   ScaleStrip             the scales of several blocks times those of one activation, where blocks have one step:
///                          what `Sums::add(scale, Products)` takes
/// The pointers are to the first of the F::block_elems / ActivationOf<F>::block_elems blocks that a block meets. Steps,
/// products and sums must inline: they are registers, not objects. BlockDot<Q4_K> and BlockDot<Q8_0> are the patterns.
template <BlockFormat F, class Arch>
struct BlockDot;

template <class F, class Arch>
concept HasBlockDot = requires {
  typename BlockDot<F, Arch>::Weights;
};

template <class Dot>
concept HasStrips = requires {
  typename Dot::ScaleStrip;
};

/// Dot products of `R` rows with `T` activations: totals[r][t].
template <std::size_t R, std::size_t T>
using Totals = std::array<std::array<float, T>, R>;

namespace detail {

template <class Dot, std::size_t T>
struct WeightsFor {
  using type = typename Dot::Weights;
};
template <class Dot>
requires requires { typename Dot::WeightsOfOne; }
struct WeightsFor<Dot, 1> {
  using type = typename Dot::WeightsOfOne;
};

template <class Products>
void keep_in_register(Products&) noexcept {}
#if defined(__AVX2__)
LAZYMOE_INLINE inline void keep_in_register(__m256i& products) noexcept { simd::avx2::keep_in_register(products); }
#endif

}  // namespace detail

/// Dot products as BlockDot describes them.
template <BlockFormat F, class Arch>
requires HasBlockDot<F, Arch>
struct IntDotKernel<F, Arch> {
  using Block = typename F::Block;
  using Activation = ActivationBlock<F>;
  using Dot = BlockDot<F, Arch>;

  /// Rows that meet T activations together: sums of long blocks need no company to hide their latency.
  template <std::size_t T>
  static constexpr std::size_t rows_at_once = T == 1 && F::block_elems < 256 ? 4 : 1;
  /// The most activations whose sums fit the registers.
  static constexpr std::size_t widest_tile = 8;

  static float run(std::span<const Block> row, const Activation* x) noexcept {
    return tile<1, 1, true>({row.data()}, {x}, row.size())[0][0];
  }

  /// Rows against activations: unpacks a block once for all T, and lets R * T chains of sums run side by side. `Ahead`
  /// fetches what follows the last of consecutive rows.
  template <std::size_t R, std::size_t T, bool Ahead = false>
  static Totals<R, T> tile(const std::array<const Block*, R>& rows, const std::array<const Activation*, T>& x,
                           std::size_t blocks) noexcept {
    typename Dot::Sums sums[R][T][Dot::chains]{};
    const std::size_t whole = blocks / Dot::chains * Dot::chains;
    detail::FetchAhead<Ahead> ahead(rows, blocks);
    std::size_t b = 0;
    if constexpr (T == 1 && HasStrips<Dot>) b = add_strips(rows, x[0], blocks, ahead, sums);
    for (; b < whole; b += Dot::chains) {
      ahead.template step<R * Dot::chains * sizeof(Block)>();
      simd::unroll<Dot::chains>([&](auto chain) LAZYMOE_INLINE { add_blocks<chain>(rows, x, b + chain, sums); });
    }
    if (whole < blocks) add_blocks<0>(rows, x, whole, sums);

    Totals<R, T> totals;
    simd::unroll<R * T>([&](auto i) LAZYMOE_INLINE {
      const auto& of = sums[i / T][i % T];
      if constexpr (Dot::chains == 1) {
        totals[i / T][i % T] = of[0].total();
      } else {
        static_assert(Dot::chains == 2);
        totals[i / T][i % T] = of[0].total(of[1]);
      }
    });
    return totals;
  }

 private:
  static constexpr std::size_t activations = F::block_elems / ActivationOf<F>::block_elems;

  /// Blocks of every row meet those of one activation, as many as have their scales multiplied at once; how many did.
  template <std::size_t R>
  LAZYMOE_INLINE static std::size_t add_strips(const std::array<const Block*, R>& rows, const Activation* x,
                                               std::size_t blocks, auto& ahead,
                                               typename Dot::Sums (&sums)[R][1][Dot::chains]) noexcept {
    using Strip = typename Dot::ScaleStrip;
    static_assert(Strip::blocks % Dot::chains == 0);
    std::size_t first = 0;
    for (; first + Strip::blocks <= blocks; first += Strip::blocks) {
      ahead.template step<R * Strip::blocks * sizeof(Block)>();
      Strip scales[R];
      const auto of_activation = Strip::of(x + first);
      simd::unroll<R>([&](auto r) LAZYMOE_INLINE { scales[r].fill(rows[r] + first, of_activation); });
      for (std::size_t i = 0; i < Strip::blocks; i += Dot::chains) {
        simd::unroll<Dot::chains>([&](auto chain) LAZYMOE_INLINE {
          const std::size_t b = first + i + chain;
          simd::unroll<R>([&](auto r) LAZYMOE_INLINE {
            const typename Dot::WeightsOfOne weights(rows[r][b]);
            sums[r][0][chain].add(scales[r][i + chain],
                                  weights.template step<0>().add(typename Dot::Products{}, x + b));
          });
        });
      }
    }
    return first;
  }

  /// Block `b` of every row meets block `b` of every activation.
  template <std::size_t Chain, std::size_t R, std::size_t T>
  LAZYMOE_INLINE static void add_blocks(const std::array<const Block*, R>& rows,
                                        const std::array<const Activation*, T>& x, std::size_t b,
                                        typename Dot::Sums (&sums)[R][T][Dot::chains]) noexcept {
    simd::unroll<R>([&](auto r) LAZYMOE_INLINE {
      const typename detail::WeightsFor<Dot, T>::type weights(rows[r][b]);
      const auto activation = [&](std::size_t t) LAZYMOE_INLINE { return x[t] + b * activations; };
      if constexpr (Dot::steps == 1) {  // scaled soon, so that few products need registers
        constexpr std::size_t few = std::min<std::size_t>(T, 4);
        static_assert(T % few == 0);
        const auto step = weights.template step<0>();
        simd::unroll<T / few>([&](auto part) LAZYMOE_INLINE {
          typename Dot::Products products[few]{};
          simd::unroll<few>([&](auto t) LAZYMOE_INLINE {
            products[t] = step.add(products[t], activation(few * part + t));
            if constexpr (T > 2) detail::keep_in_register(products[t]);
          });
          simd::unroll<few>([&](auto t) LAZYMOE_INLINE {
            sums[r][few * part + t][Chain].add(weights, products[t], activation(few * part + t));
          });
        });
      } else {
        typename Dot::Products products[T]{};
        simd::unroll<Dot::steps>([&](auto s) LAZYMOE_INLINE {
          const auto step = weights.template step<s>();
          simd::unroll<T>([&](auto t) LAZYMOE_INLINE {
            products[t] = step.add(products[t], activation(t));
            if constexpr (T > 2) detail::keep_in_register(products[t]);
          });
        });
        simd::unroll<T>([&](auto t) LAZYMOE_INLINE { sums[r][t][Chain].add(weights, products[t], activation(t)); });
      }
    });
  }
};

/// A kernel that multiplies several rows or activations at once, as the one above and those of plain numbers do.
template <class F, class Arch>
concept HasTiles = requires(const typename F::Block* row, const ActivationBlock<F>* x) {
  IntDotKernel<F, Arch>::template rows_at_once<1>;
  IntDotKernel<F, Arch>::widest_tile;
  IntDotKernel<F, Arch>::template tile<1, 1>({row}, {x}, std::size_t{});
};

#if defined(__AVX2__)

namespace detail {

/// A scale in all lanes.
[[nodiscard]] LAZYMOE_INLINE inline __m256 all_lanes(Half half) noexcept {
#if defined(__F16C__)
  return simd::avx2::all_lanes_of_half(half.bits);
#else
  return simd::avx2::all_lanes(to_float(half));
#endif
}
/// Eight halves.
[[nodiscard]] LAZYMOE_INLINE inline __m256 floats_of_halves(__m128i bits) noexcept {
#if defined(__F16C__)
  return _mm256_cvtph_ps(bits);
#else
  alignas(16) std::array<std::uint16_t, 8> halves;
  alignas(32) std::array<float, 8> floats;
  _mm_store_si128(reinterpret_cast<__m128i*>(halves.data()), bits);
  for (std::size_t i = 0; i < 8; ++i) floats[i] = to_float(Half{halves[i]});
  return _mm256_load_ps(floats.data());
#endif
}
[[nodiscard]] LAZYMOE_INLINE inline __m256 all_lanes(float number) noexcept { return simd::avx2::all_lanes(number); }

/// The first two numbers of a block that starts with halves: one load into the register that converts them.
[[nodiscard]] LAZYMOE_INLINE inline __m128 first_halves(const Half& first) noexcept {
#if defined(__F16C__)
  const auto two = load_as<std::uint32_t>(reinterpret_cast<const std::byte*>(&first));
  return _mm_cvtph_ps(_mm_cvtsi32_si128(static_cast<int>(two)));
#else
  return _mm_setr_ps(to_float(first), to_float(*(&first + 1)), 0.0F, 0.0F);
#endif
}

/// 32 weights of a block of 256 from `Offset` on, as unsigned bytes, and the scale of each pair in 16-bit lanes.
template <std::size_t Offset>
struct UnsignedRun {
  __m256i weights;
  __m256i scale;

  [[nodiscard]] __m256i add(__m256i products, const ActivationQ8_K* y) const noexcept {
    using namespace simd::avx2;
    const __m256i pairs = pair_sums(weights, load32(y->q.data() + Offset));
    return add_scaled_sums(products, pairs, scale);
  }
};

/// The same for signed bytes: their magnitudes are multiplied, and their signs move to the activation.
template <std::size_t Offset>
struct SignedRun {
  SignedRun(__m256i weights, __m256i scales) noexcept
      : signs(weights), magnitudes(_mm256_abs_epi8(weights)), scale(scales) {}
  /// Of any vectors whose signs are those of the weights.
  SignedRun(__m256i weight_signs, __m256i weight_magnitudes, __m256i scales) noexcept
      : signs(weight_signs), magnitudes(weight_magnitudes), scale(scales) {}

  __m256i signs;
  __m256i magnitudes;
  __m256i scale;

  [[nodiscard]] __m256i add(__m256i products, const ActivationQ8_K* y) const noexcept {
    using namespace simd::avx2;
    const __m256i pairs = pair_sums(magnitudes, _mm256_sign_epi8(load32(y->q.data() + Offset), signs));
    return add_scaled_sums(products, pairs, scale);
  }
};

/// One chain of eight sums, scaled by d once a block, for Weights with a member `d` that has it in all lanes or
/// `times`.
struct SumsOfEight {
  void add(__m256 scale, __m256i products) noexcept {
    eight = simd::avx2::fma(scale, _mm256_cvtepi32_ps(products), eight);
  }
  template <class Weights, class Activation>
  void add(const Weights& w, __m256i products, const Activation* y) noexcept {
    add(scale(w, y->d), products);
  }
  [[nodiscard]] float total() const noexcept { return simd::avx2::sum(eight); }
  /// With the sums of the other chain.
  [[nodiscard]] float total(const SumsOfEight& odd) const noexcept {
    return simd::avx2::sum(_mm256_add_ps(eight, odd.eight));
  }

  __m256 eight = _mm256_setzero_ps();

 private:
  /// The product of both scales in all lanes.
  template <class Weights>
  [[nodiscard]] static __m256 scale(const Weights& w, float d) noexcept {
    if constexpr (requires { w.times(d); }) {
      return w.times(d);
    } else {
      return _mm256_mul_ps(w.d, _mm256_set1_ps(d));
    }
  }
};

}  // namespace detail

#endif

}  // namespace lazymoe::quant
