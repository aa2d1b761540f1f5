#pragma once

#include <concepts>
#include <type_traits>

// The tags alone: half the price of <xsimd/xsimd.hpp>, which only batch.hpp includes. Those of ARM do not stand alone.
#if defined(__x86_64__)
#include <xsimd/config/xsimd_arch.hpp>
#else
#include <xsimd/xsimd.hpp>
#endif

namespace lazymoe::simd {

/// Tag of the reference path: plain C++, no vectors.
struct Scalar {
  static constexpr const char* name() noexcept { return "scalar"; }
};

/// An instruction set that xsimd knows and this program was compiled for.
///
/// Laws, checked by the tests of every kernel:
///   1. a kernel for it stays within its stated error of the kernel for Scalar
template <class Arch>
concept SimdArch = requires {
  { Arch::supported() } -> std::same_as<bool>;
  { Arch::requires_alignment() } -> std::same_as<bool>;
  { Arch::name() } -> std::convertible_to<const char*>;
} && Arch::supported() && !std::same_as<Arch, xsimd::unavailable>;

/// AVX2 or anything above it. AVX-512 tags do not derive from avx2 in every xsimd, but imply it.
template <class Arch>
concept Avx2Arch = SimdArch<Arch> && (std::derived_from<Arch, xsimd::avx2> || std::derived_from<Arch, xsimd::avx512f>);

/// What default kernels are made for: the best instruction set `-march` allows, but eight floats at a time where
/// registers hold sixteen. Sums fold eight lanes, and so have the same bits with AVX-512 as with AVX2. Kernels use the
/// instructions of AVX-512 all the same, where the order of a sum leaves them the choice.
using DefaultArch = std::conditional_t<
    SimdArch<xsimd::avx512f>, std::conditional_t<SimdArch<xsimd::fma3<xsimd::avx2>>, xsimd::fma3<xsimd::avx2>, xsimd::avx2>,
    std::conditional_t<SimdArch<xsimd::default_arch>, xsimd::default_arch, Scalar>>;

/// What kernels for DefaultArch use beside it, to be read after its name.
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
inline constexpr const char* extensions = " with AVX-512 VNNI";
#elif defined(__AVXVNNI__)
inline constexpr const char* extensions = " with AVX-VNNI";
#else
inline constexpr const char* extensions = "";
#endif

}  // namespace lazymoe::simd
