#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "../core/contract.hpp"

namespace lazymoe::tensor {

/// Which elements of a head form a pair that is rotated together; fixed by the architecture, not by the file.
enum class RopePairs {
  neox,  ///< (i, i + n_rot / 2): Qwen, OLMoE
  norm,  ///< (2i, 2i + 1): llama, deepseek2
};

/// Which pairs keep their angles when positions are scaled: fast ones do, slow ones do not, those between are mixed.
struct Yarn {
  float share = 0.0F;        ///< of the mixing: 1, or 0 to scale all pairs alike
  float n_ctx_train = 0.0F;  ///< positions of the training before the scaling
  float fast_turns = 32.0F;  ///< pairs that turn as often in n_ctx_train positions, or more, keep their angles
  float slow_turns = 1.0F;   ///< pairs that turn no more than so are scaled whole
};

struct RopeOptions {
  std::size_t n_rot = 0;    ///< leading elements of a head that are rotated, even
  float base = 10000.0F;    ///< theta_i = position * base^(-2i / n_rot)
  float freq_scale = 1.0F;  ///< scaling of positions: 1 / factor
  float magnitude = 1.0F;   ///< multiplies sines and cosines
  Yarn yarn = {};
  RopePairs pairs = RopePairs::neox;
};

/// Rotary position embedding: turns each pair (a, b) of a head to (a cos - b sin, a sin + b cos).
///
/// @thread const members are pure
/// @source Su et al., "RoFormer", 2021; Peng et al., "YaRN", 2023
class Rope {
 public:
  explicit Rope(RopeOptions options)
      : options_(options), ratio_(std::pow(options.base, -2.0F / static_cast<float>(options.n_rot))) {
    LAZYMOE_EXPECTS(options.n_rot % 2 == 0);
    if (options.yarn.share == 0.0F) return;
    first_mixed_ = std::max(0.0F, std::floor(pair_of_turns(options.yarn.fast_turns)));
    first_scaled_ = std::min(static_cast<float>(options.n_rot - 1), std::ceil(pair_of_turns(options.yarn.slow_turns)));
  }

  /// Sines and cosines of one position, to be shared by all heads of a token.
  struct Angles {
    std::vector<float> cosines;
    std::vector<float> sines;
  };

  [[nodiscard]] Angles angles(std::size_t position) const {
    Angles a;
    a.cosines.reserve(options_.n_rot / 2);
    a.sines.reserve(options_.n_rot / 2);
    // Successive products in float, as the reference forms them: pow() would differ in the last bits.
    float theta = static_cast<float>(position);
    for (std::size_t i = 0; i < options_.n_rot / 2; ++i) {
      const float angle = scaled(theta, i);
      a.cosines.push_back(std::cos(angle) * options_.magnitude);
      a.sines.push_back(std::sin(angle) * options_.magnitude);
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
  /// The pair, as a real number, that turns `turns` times in the positions of the training.
  [[nodiscard]] float pair_of_turns(float turns) const {
    constexpr float two_pi = 2.0F * std::numbers::pi_v<float>;
    return static_cast<float>(options_.n_rot) * std::log(options_.yarn.n_ctx_train / (turns * two_pi)) /
           (2.0F * std::log(options_.base));
  }

  /// The angle of pair `i` whose angle without scaling is `theta`.
  [[nodiscard]] float scaled(float theta, std::size_t i) const {
    const float slow = options_.freq_scale * theta;
    if (options_.yarn.share == 0.0F) return slow;
    const float ramp = (static_cast<float>(i) - first_mixed_) / std::max(0.001F, first_scaled_ - first_mixed_);
    const float kept = (1.0F - std::min(1.0F, std::max(0.0F, ramp))) * options_.yarn.share;
    return slow * (1.0F - kept) + theta * kept;
  }

  RopeOptions options_;
  float ratio_;                // of the angles of neighbouring pairs
  float first_mixed_ = 0.0F;   // pairs before keep their angles
  float first_scaled_ = 0.0F;  // pairs from here on are scaled whole
};

}  // namespace lazymoe::tensor
