#pragma once

#include <cstddef>
#include <span>

#include "../../simd/widen.hpp"
#include "decode_blocks.hpp"
#include "fetch_ahead.hpp"
#include "nvfp4.hpp"
#include "q1_q2.hpp"
#include "reference.hpp"
#include "ternary.hpp"

#if defined(__AVX2__)

namespace lazymoe::quant {

namespace detail {

/// Formats with one scale a block, by the steps of their dot products.
template <BlockFormat F, class Arch>
struct DecodeWithOneScale {
  static void run(std::span<const typename F::Block> row, float* out) noexcept {
    detail::each_block(row, [&](const auto& block) LAZYMOE_INLINE {
      const typename BlockDot<F, Arch>::Weights w(block);
      simd::unroll<BlockDot<F, Arch>::steps>([&](auto s) LAZYMOE_INLINE {
        write32(signed_bytes(w.template step<s>()), w.d, w.d, out);
        out += 32;
      });
    });
  }

 private:
  template <std::size_t Offset>
  LAZYMOE_INLINE static __m256i signed_bytes(const TernaryRun<Offset>& run) noexcept {
    return _mm256_sub_epi8(run.weights, _mm256_set1_epi8(1));
  }
  template <std::size_t B>
  LAZYMOE_INLINE static __m256i signed_bytes(const ScaledRun<B>& run) noexcept {
    return run.signs;
  }
  template <std::size_t B>
  LAZYMOE_INLINE static __m256i signed_bytes(const NegatedRun<B>& run) noexcept {
    return _mm256_or_si256(run.minus, _mm256_set1_epi8(1));
  }
};

}  // namespace detail

template <simd::Avx2Arch Arch>
struct DecodeKernel<TQ1_0, Arch> : detail::DecodeWithOneScale<TQ1_0, Arch> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<TQ2_0, Arch> : detail::DecodeWithOneScale<TQ2_0, Arch> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q1_0, Arch> : detail::DecodeWithOneScale<Q1_0, Arch> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<Q2_0, Arch> : detail::DecodeWithOneScale<Q2_0, Arch> {};

template <simd::Avx2Arch Arch>
struct DecodeKernel<NVFP4, Arch> {
  static void run(std::span<const NVFP4::Block> row, float* out) noexcept {
    detail::each_block(row, [&](const auto& block) LAZYMOE_INLINE {
      const typename BlockDot<NVFP4, Arch>::Weights w(block);
      simd::unroll<2>([&](auto s) LAZYMOE_INLINE {
        const __m256 both = w.scales[s];
        detail::write32(w.template step<s>().signs, _mm256_permute2f128_ps(both, both, 0x00),
                        _mm256_permute2f128_ps(both, both, 0x11), out);
        out += 32;
      });
    });
  }
};

}  // namespace lazymoe::quant

#endif
