#pragma once

#include <span>

#include "../core/contract.hpp"
#include "../quant/dot.hpp"
#include "../quant/formats/plain.hpp"

namespace lazymoe::tensor {

/// Dot product of two rows of floats, in four chains of sums: the order the reference has for single rows.
/// @shape a[n], b[n]
[[nodiscard]] inline float dot(std::span<const float> a, std::span<const float> b) noexcept {
  LAZYMOE_EXPECTS(a.size() == b.size());
  return quant::dot_float<quant::F32>({reinterpret_cast<const quant::F32::Block*>(a.data()), a.size()}, b);
}

}  // namespace lazymoe::tensor
