#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "../../simd/batch.hpp"
#include "../../simd/widen.hpp"
#include "../formats/plain.hpp"
#include "fetch_ahead.hpp"
#include "tile.hpp"

namespace lazymoe::quant {

namespace detail {

/// Batch::size numbers from any address, as floats.
template <class Batch>
[[nodiscard]] Batch load_floats(const float* from) noexcept {
  return Batch::load_unaligned(from);
}

template <class Batch>
[[nodiscard]] Batch load_floats(const F32::Block* from) noexcept {
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  return Batch::load_unaligned(reinterpret_cast<const float*>(bytes));
}

template <class Batch>
[[nodiscard]] Batch load_floats(const Half* from) noexcept {
#if defined(__F16C__) && defined(__AVX2__)
  if constexpr (Batch::size == 8) {
    return Batch(_mm256_cvtph_ps(simd::avx2::load16(from)));
  }
#endif
  std::array<float, Batch::size> wide;
  for (std::size_t i = 0; i < Batch::size; ++i) wide[i] = to_float(from[i]);
  return Batch::load_unaligned(wide.data());
}

template <class Batch>
[[nodiscard]] Batch load_floats(const BFloat16* from) noexcept {
#if defined(__AVX2__)
  if constexpr (Batch::size == 8) {
    return Batch(_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(simd::avx2::load16(from)), 16)));
  }
#endif
  std::array<float, Batch::size> wide;
  for (std::size_t i = 0; i < Batch::size; ++i) wide[i] = to_float(from[i]);
  return Batch::load_unaligned(wide.data());
}

/// The first `n` numbers, then zeros.
template <class Batch, class T>
[[nodiscard]] Batch load_tail(const T* from, std::size_t n) noexcept {
  std::array<T, Batch::size> padded{};
  std::copy_n(from, n, padded.begin());
  return load_floats<Batch>(padded.data());
}

/// As many as the reference has for single rows.
inline constexpr std::size_t plain_chains = 4;

/// Sums of products of R rows with T vectors, each in one order, whatever the addresses: batch b adds to chain b %
/// plain_chains, the rest of the row is padded to a batch and adds to the first. Chains run side by side if the
/// registers hold the sums of all, and strip by strip one after another if not.
template <class Arch, bool Ahead, std::size_t R, std::size_t T, class W>
[[nodiscard]] Totals<R, T> plain_tile(const std::array<const W*, R>& rows, const std::array<const float*, T>& x,
                                      std::size_t n) noexcept {
  using Batch = simd::Batch<Arch>;
  constexpr std::size_t lanes = Batch::size;
  using Sums = std::array<std::array<Batch, T>, R>;
  std::array<Sums, plain_chains> chains;
  simd::unroll<plain_chains * R * T>([&](auto i)
                                         LAZYMOE_INLINE { chains[i / (R * T)][i / T % R][i % T] = Batch(0.0F); });
  const auto add = [&](Sums& sums, auto&& load, std::size_t at) LAZYMOE_INLINE {
    Batch w[R];
    simd::unroll<R>([&](auto r) LAZYMOE_INLINE {
      w[r] = load(rows[r] + at);
      if constexpr (R * T > 8) simd::keep_in_register(w[r]);
    });
    simd::unroll<T>([&](auto t) LAZYMOE_INLINE {
      Batch xt = load(x[t] + at);
      if constexpr (R * T > 8) simd::keep_in_register(xt);
      simd::unroll<R>([&](auto r) LAZYMOE_INLINE { sums[r][t] = simd::fma(w[r], xt, sums[r][t]); });
    });
  };
  const auto whole_batch = [](const auto* from) LAZYMOE_INLINE { return load_floats<Batch>(from); };

  const std::size_t batches = n / lanes;
  const std::size_t whole = batches / plain_chains * plain_chains;
  if constexpr (R * T * plain_chains <= 8) {
    const auto add_whole = [&](auto ahead) LAZYMOE_INLINE {
      for (std::size_t b = 0; b < whole; b += plain_chains) {
        ahead.template step<R * plain_chains * lanes * sizeof(W)>();
        simd::unroll<plain_chains>([&](auto chain)
                                       LAZYMOE_INLINE { add(chains[chain], whole_batch, (b + chain) * lanes); });
      }
    };
    // What is fetched too far ahead drives out of the first-level cache what is needed first.
    if (R * n * sizeof(W) <= std::size_t{12} << 10) {
      add_whole(FetchAhead<Ahead>(rows, n));
    } else {
      add_whole(FetchAhead<false>(rows, n));
    }
    simd::unroll<plain_chains>([&](auto chain) LAZYMOE_INLINE {
      if (whole + chain < batches) add(chains[chain], whole_batch, (whole + chain) * lanes);
    });
  } else {
    constexpr std::size_t strip = 32;  // what all chains meet before any goes on: stays in the first-level cache
    static_assert(strip % plain_chains == 0);
    for (std::size_t first = 0; first < batches; first += strip) {
      const std::size_t end = std::min(first + strip, batches);
      simd::unroll<plain_chains>([&](auto chain) LAZYMOE_INLINE {
        Sums sums = chains[chain];  // in registers, whatever a compiler thinks of all chains
        for (std::size_t b = first + chain; b < end; b += plain_chains) add(sums, whole_batch, b * lanes);
        chains[chain] = sums;
      });
    }
  }
  if (const std::size_t rest = n % lanes; rest != 0) {
    const auto padded = [rest](const auto* from) { return load_tail<Batch>(from, rest); };
    add(chains[0], padded, batches * lanes);
  }

  Totals<R, T> totals;
  simd::unroll<R * T>([&](auto i) LAZYMOE_INLINE {
    const auto sum = [&](std::size_t chain) -> Batch& { return chains[chain][i / T][i % T]; };
    for (std::size_t half = plain_chains / 2; half > 0; half /= 2) {
      for (std::size_t p = 0; p < half; ++p) sum(p) += sum(p + half);
    }
    totals[i / T][i % T] = simd::sum_of_neighbours(sum(0));
  });
  return totals;
}

template <class Arch, class W>
[[nodiscard]] float plain_dot(std::span<const W> w, const float* x) noexcept {
  return plain_tile<Arch, true, 1, 1, W>({w.data()}, {x}, w.size())[0][0];
}

/// Kernel of a format of numbers that are not in blocks.
template <BlockFormat F, class Arch>
struct PlainKernel {
  using Block = typename F::Block;

  static constexpr std::size_t widest_tile = 4;
  /// Eight sums hide the latency of one; twelve leave some slack and fit the registers.
  template <std::size_t T>
  static constexpr std::size_t rows_at_once = T == 4 ? 3 : 2 / T;

  static float run(std::span<const Block> row, const float* x) noexcept { return plain_dot<Arch>(row, x); }

  template <std::size_t R, std::size_t T, bool Ahead = false>
  static Totals<R, T> tile(const std::array<const Block*, R>& rows, const std::array<const float*, T>& x,
                           std::size_t blocks) noexcept {
    return plain_tile<Arch, Ahead>(rows, x, blocks);
  }
};

/// Decoding of numbers that are not in blocks.
template <BlockFormat F, class Arch>
struct PlainDecoder {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    using Batch = simd::Batch<Arch>;
    constexpr std::size_t at_once = 4;
    const std::size_t whole = row.size() / (at_once * Batch::size) * (at_once * Batch::size);
    FetchAhead<true> ahead(std::array{row.data()}, row.size());
    for (std::size_t i = 0; i < whole; i += at_once * Batch::size) {
      ahead.template step<at_once * Batch::size * sizeof(typename F::Block)>();
      simd::unroll<at_once>([&](auto k) LAZYMOE_INLINE {
        load_floats<Batch>(row.data() + i + k * Batch::size).store_unaligned(out + i + k * Batch::size);
      });
    }
    for (std::size_t i = whole; i < row.size(); ++i) F::decode(row[i], std::span<float, 1>(out + i, 1));
  }
};

}  // namespace detail

template <simd::SimdArch Arch>
struct IntDotKernel<F32, Arch> : detail::PlainKernel<F32, Arch> {};

template <simd::SimdArch Arch>
struct IntDotKernel<F16, Arch> : detail::PlainKernel<F16, Arch> {};

template <simd::SimdArch Arch>
struct IntDotKernel<BF16, Arch> : detail::PlainKernel<BF16, Arch> {};

template <simd::SimdArch Arch>
struct DotKernel<F32, Arch> {
  static float run(std::span<const F32::Block> row, const float* x) noexcept { return detail::plain_dot<Arch>(row, x); }
};

template <simd::SimdArch Arch>
struct DotKernel<F16, Arch> {
  static float run(std::span<const F16::Block> row, const float* x) noexcept { return detail::plain_dot<Arch>(row, x); }
};

template <simd::SimdArch Arch>
struct DotKernel<BF16, Arch> {
  static float run(std::span<const BF16::Block> row, const float* x) noexcept {
    return detail::plain_dot<Arch>(row, x);
  }
};

template <simd::SimdArch Arch>
struct DecodeKernel<F16, Arch> : detail::PlainDecoder<F16, Arch> {};

template <simd::SimdArch Arch>
struct DecodeKernel<BF16, Arch> : detail::PlainDecoder<BF16, Arch> {};

}  // namespace lazymoe::quant
