#pragma once

#include <string>

#include <Eigen/Core>
#include <boost/version.hpp>
#include <xsimd/xsimd.hpp>

#include "simd/arch.hpp"
#include "version.hpp"

namespace lazymoe {

/// What this program was built from. The instruction set is the compiler's: without -march=native it is SSE2, and slow.
struct BuildInfo {
  std::string version;
  std::string instruction_set;
  std::string compiler;
  std::string dependencies;
};

[[nodiscard]] inline BuildInfo build_info() {
  const auto dotted = [](int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  };
#if defined(__clang__)
  const std::string compiler = "clang " + dotted(__clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  const std::string compiler = "g++ " + dotted(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
  return {.version = dotted(LAZYMOE_VERSION_MAJOR, LAZYMOE_VERSION_MINOR, LAZYMOE_VERSION_PATCH),
          .instruction_set = std::string(simd::DefaultArch::name()) + simd::extensions,
          .compiler = compiler,
          .dependencies = "Eigen " + dotted(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION) +
                          ", xsimd " + dotted(XSIMD_VERSION_MAJOR, XSIMD_VERSION_MINOR, XSIMD_VERSION_PATCH) +
                          ", Boost " + dotted(BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100)};
}

}  // namespace lazymoe
