#pragma once

#include <cstddef>
#include <cstdint>

#include "../simd/math.hpp"

namespace lazymoe::moe {

/// What makes hidden activations of gate and up.
enum class Activation : std::uint8_t {
  swiglu,          ///< silu(gate) * up
  clamped_swiglu,  ///< of gpt-oss, see simd::clamped_swiglu()
};

/// out[i] = activation(gate[i], up[i]); out may be either input.
inline void activate(Activation activation, const float* gate, const float* up, float* out, std::size_t n) noexcept {
  switch (activation) {
    case Activation::swiglu: return simd::swiglu(gate, up, out, n);
    case Activation::clamped_swiglu: return simd::clamped_swiglu(gate, up, out, n);
  }
}

}  // namespace lazymoe::moe
