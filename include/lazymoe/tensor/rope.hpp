#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "../core/contract.hpp"

namespace lazymoe::tensor {

/// Which elements of a head form a pair that is rotated together; fixed by the architecture, not by the file.
enum class RopePairs {
  neox,  ///< (i, i + n_rot / 2): Qwen, OLMoE
  norm,  ///< (2i, 2i + 1): llama, deepseek2
};

struct RopeOptions {
  std::size_t n_rot = 0;     ///< leading elements of a head that are rotated, even
  float base = 10000.0F;     ///< theta_i = position * base^(-2i / n_rot)
  float freq_scale = 1.0F;   ///< linear scaling of positions: 1 / factor
  RopePairs pairs = RopePairs::neox;
};

/// Rotary position embedding: turns each pair (a, b) of a head to (a cos - b sin, a sin + b cos).
///
/// @thread const members are pure
/// @source Su et al., "RoFormer", 2021
class Rope {
 public:
  explicit Rope(RopeOptions options)
      : options_(options), ratio_(std::pow(options.base, -2.0F / static_cast<float>(options.n_rot))) {
    LAZYMOE_EXPECTS(options.n_rot % 2 == 0);
  }

  /// Sines and cosines of one position, to be shared by all heads of a token.
  struct Angles {
    std::vector<float> cosines;
    std::vector<float> sines;
  };

  [[nodiscard]] Angles angles(std::size_t position) const {
    Angles a;
    // Successive products in float, as the reference forms them: pow() would differ in the last bits.
    float theta = static_cast<float>(position);
    for (std::size_t i = 0; i < options_.n_rot / 2; ++i) {
      a.cosines.push_back(std::cos(options_.freq_scale * theta));
      a.sines.push_back(std::sin(options_.freq_scale * theta));
      theta *= ratio_;
    }
    return a;
  }

  /// Rotates every head of x[n_heads * head_dim] in place.
  /// @pre head_dim >= n_rot
  void rotate(std::span<float> x, std::size_t head_dim, const Angles& a) const noexcept {
    LAZYMOE_EXPECTS(head_dim >= options_.n_rot && x.size() % head_dim == 0);
    const std::size_t half = options_.n_rot / 2;
    const bool neox = options_.pairs == RopePairs::neox;
    const std::size_t stride = neox ? 1 : 2;
    const std::size_t partner = neox ? half : 1;
    for (std::size_t head = 0; head < x.size(); head += head_dim) {
      for (std::size_t i = 0; i < half; ++i) {
        float& first = x[head + stride * i];
        float& second = x[head + stride * i + partner];
        const float u = first;
        const float v = second;
        first = u * a.cosines[i] - v * a.sines[i];
        second = u * a.sines[i] + v * a.cosines[i];
      }
    }
  }

 private:
  RopeOptions options_;
  float ratio_;  // of the angles of neighbouring pairs
};

}  // namespace lazymoe::tensor
