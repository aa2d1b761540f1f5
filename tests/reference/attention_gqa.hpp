#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <lazymoe/models/config.hpp>
#include <lazymoe/quant/packed_matrix.hpp>

#include "reference/dense.hpp"

namespace lazymoe::reference {

struct GqaWeights {
  quant::PackedMatrix query, key, value, output;
  Vector query_bias, key_bias, value_bias, output_bias;  ///< empty: none
  Vector query_norm, key_norm;                           ///< empty: none
  Vector sinks;                                          ///< [n_heads], or none
};

/// W x + bias.
[[nodiscard]] inline Vector project(const quant::PackedMatrix& w, const Vector& bias, const Vector& x) {
  Vector y = multiply(w, x);
  for (std::size_t i = 0; i < bias.size(); ++i) y[i] += bias[i];
  return y;
}

/// Norms the heads of x[n_heads * dim], then turns the pairs (i, i + n_rot / 2) of each to `position`.
[[nodiscard]] inline std::vector<Vector> heads(const Vector& x, const Vector& norm, const models::Config& c,
                                               std::size_t position) {
  std::vector<Vector> out;
  for (std::size_t first = 0; first < x.size(); first += c.key_dim) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(c.key_dim);
    Vector head(begin, end);
    if (!norm.empty()) head = rms_norm(head, norm, static_cast<double>(c.rms_epsilon));
    for (std::size_t i = 0; i < c.rope.n_rot / 2; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(c.rope.n_rot);
      const double theta = static_cast<double>(position) * std::pow(static_cast<double>(c.rope.base), exponent);
      const double a = head[i];
      const double b = head[i + c.rope.n_rot / 2];
      head[i] = a * std::cos(theta) - b * std::sin(theta);
      head[i + c.rope.n_rot / 2] = a * std::sin(theta) + b * std::cos(theta);
    }
    out.push_back(std::move(head));
  }
  return out;
}

/// Causal attention of normed and rotated heads, for a whole sequence at once.
[[nodiscard]] inline std::vector<Vector> attention_gqa(const GqaWeights& w, const models::Config& c,
                                                       const std::vector<Vector>& x) {
  std::vector<std::vector<Vector>> keys;  // [position][kv head]
  std::vector<Vector> values;             // [position], all heads side by side
  std::vector<Vector> out;
  for (std::size_t t = 0; t < x.size(); ++t) {
    keys.push_back(heads(project(w.key, w.key_bias, x[t]), w.key_norm, c, t));
    values.push_back(project(w.value, w.value_bias, x[t]));
    Vector projected = project(w.query, w.query_bias, x[t]);
    Vector gates;
    if (c.attention_gate) {
      Vector both;
      std::swap(both, projected);
      for (std::size_t i = 0; i < both.size(); ++i) (i / c.key_dim % 2 == 0 ? projected : gates).push_back(both[i]);
    }
    const auto queries = heads(projected, w.query_norm, c, t);
    const std::size_t first = c.window != 0 && t + 1 > c.window ? t + 1 - c.window : 0;
    Vector mixed(c.n_heads * c.value_dim, 0.0);
    for (std::size_t h = 0; h < c.n_heads; ++h) {
      const std::size_t kv = h / (c.n_heads / c.n_kv_heads);
      Vector scores;
      for (std::size_t p = first; p <= t; ++p) {
        double dot = 0.0;
        for (std::size_t i = 0; i < c.key_dim; ++i) dot += queries[h][i] * keys[p][kv][i];
        const double scale = static_cast<double>(c.score_scale);
        scores.push_back(dot * (scale != 0.0 ? scale : 1.0 / std::sqrt(static_cast<double>(c.key_dim))));
      }
      if (!w.sinks.empty()) scores.push_back(w.sinks[h]);
      const Vector share = softmax(scores);
      for (std::size_t p = first; p <= t; ++p) {
        for (std::size_t i = 0; i < c.value_dim; ++i) {
          mixed[h * c.value_dim + i] += share[p - first] * values[p][kv * c.value_dim + i];
        }
      }
    }
    for (std::size_t i = 0; i < gates.size(); ++i) mixed[i] /= 1.0 + std::exp(-gates[i]);
    out.push_back(project(w.output, w.output_bias, mixed));
  }
  return out;
}

}  // namespace lazymoe::reference
