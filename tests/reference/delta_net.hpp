#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <lazymoe/models/config.hpp>
#include <lazymoe/quant/packed_matrix.hpp>

#include "reference/dense.hpp"

namespace lazymoe::reference {

/// The recurrence of one head, with what it remembers as S[key][value].
class DeltaRule {
 public:
  explicit DeltaRule(std::size_t d) : state(d, Vector(d, 0.0)) {}

  /// S = e^g S;  S += k (beta (v - k S));  o = q S / sqrt(D)
  [[nodiscard]] Vector step(const Vector& k, const Vector& q, const Vector& v, double log_decay, double beta) {
    const std::size_t d = state.size();
    Vector out(d, 0.0);
    for (std::size_t j = 0; j < d; ++j) {
      double recalled = 0.0;
      for (std::size_t i = 0; i < d; ++i) recalled += (state[i][j] *= std::exp(log_decay)) * k[i];
      for (std::size_t i = 0; i < d; ++i) state[i][j] += k[i] * beta * (v[j] - recalled);
      for (std::size_t i = 0; i < d; ++i) out[j] += state[i][j] * q[i] / std::sqrt(static_cast<double>(d));
    }
    return out;
  }

  std::vector<Vector> state;
};

struct DeltaNetWeights {
  quant::PackedMatrix projection, gate, alpha, beta, output;
  std::vector<Vector> taps;  // [channel][tap]
  Vector time_bias, rate, norm;
};

[[nodiscard]] inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// Elements [first, first + n) divided by their length.
[[nodiscard]] inline Vector unit(const Vector& x, std::size_t first, std::size_t n, double epsilon) {
  Vector y(x.begin() + static_cast<std::ptrdiff_t>(first), x.begin() + static_cast<std::ptrdiff_t>(first + n));
  double squares = 0.0;
  for (const double v : y) squares += v * v;
  for (double& v : y) v /= std::fmax(std::sqrt(squares), epsilon);
  return y;
}

/// A gated DeltaNet layer, for a whole sequence at once.
[[nodiscard]] inline std::vector<Vector> delta_net(const DeltaNetWeights& w, const models::Config& c,
                                                   const std::vector<Vector>& x) {
  const auto& shape = c.delta_net;
  const std::size_t d = shape.head_dim;
  const double epsilon = static_cast<double>(c.rms_epsilon);
  std::vector<DeltaRule> heads(shape.n_value_heads, DeltaRule(d));
  std::vector<Vector> projected;
  std::vector<Vector> out;
  for (std::size_t t = 0; t < x.size(); ++t) {
    projected.push_back(multiply(w.projection, x[t]));
    Vector y(shape.channels(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t j = 0; j < shape.n_taps && j <= t; ++j) {
        y[i] += w.taps[i][shape.n_taps - 1 - j] * projected[t - j][i];
      }
      y[i] *= sigmoid(y[i]);
    }
    const Vector z = multiply(w.gate, x[t]);
    const Vector alpha = multiply(w.alpha, x[t]);
    const Vector beta = multiply(w.beta, x[t]);
    Vector mixed;
    for (std::size_t h = 0; h < shape.n_value_heads; ++h) {
      const std::size_t key =
          shape.grouped ? h / (shape.n_value_heads / shape.n_key_heads) : h % shape.n_key_heads;
      const auto value = y.begin() + static_cast<std::ptrdiff_t>(2 * shape.key_width() + h * d);
      const Vector o = heads[h].step(unit(y, shape.key_width() + key * d, d, epsilon), unit(y, key * d, d, epsilon),
                                     Vector(value, value + static_cast<std::ptrdiff_t>(d)),
                                     w.rate[h] * std::log1p(std::exp(alpha[h] + w.time_bias[h])), sigmoid(beta[h]));
      const Vector normed = rms_norm(o, w.norm, epsilon);
      for (std::size_t i = 0; i < d; ++i) mixed.push_back(normed[i] * z[h * d + i] * sigmoid(z[h * d + i]));
    }
    out.push_back(multiply(w.output, mixed));
  }
  return out;
}

}  // namespace lazymoe::reference
