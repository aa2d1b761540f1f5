#pragma once

#include <cmath>
#include <cstddef>
#include <lazymoe/models/config.hpp>
#include <lazymoe/quant/packed_matrix.hpp>
#include <vector>

#include "reference/dense.hpp"

namespace lazymoe::reference {

/// Weights of latent attention. Keys and values of all heads: as rows of [rank], for each head first keys, then values.
struct MlaWeights {
  quant::PackedMatrix query_down, query, latent, key_value, output;
  Vector query_norm, latent_norm;
};

/// Turns the pairs (2i, 2i + 1) of x[first .. first + n_rot) to `position`.
inline void rotate_neighbours(Vector& x, std::size_t first, const models::Config& c, std::size_t position) {
  for (std::size_t i = 0; i < c.rope.n_rot / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(c.rope.n_rot);
    const double theta = static_cast<double>(position) * std::pow(static_cast<double>(c.rope.base), exponent);
    const double a = x[first + 2 * i];
    const double b = x[first + 2 * i + 1];
    x[first + 2 * i] = a * std::cos(theta) - b * std::sin(theta);
    x[first + 2 * i + 1] = a * std::sin(theta) + b * std::cos(theta);
  }
}

[[nodiscard]] inline Vector part(const Vector& x, std::size_t first, std::size_t n) {
  const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(n)};
}

[[nodiscard]] inline double dot(const Vector& a, std::size_t first_a, const Vector& b, std::size_t first_b,
                                std::size_t n) {
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += a[first_a + i] * b[first_b + i];
  return sum;
}

/// Causal latent attention for a whole sequence at once, in the form that makes keys and values of every head.
[[nodiscard]] inline std::vector<Vector> attention_mla(const MlaWeights& w, const models::Config& c,
                                                       const std::vector<Vector>& x) {
  const auto epsilon = static_cast<double>(c.rms_epsilon);
  const std::size_t plain = c.key_dim - c.rope.n_rot;
  std::vector<Vector> pairs;    // [position]: keys and values of all heads, not rotated
  std::vector<Vector> rotated;  // [position]: the part of the key that all heads share
  std::vector<Vector> out;
  for (std::size_t t = 0; t < x.size(); ++t) {
    const Vector latent = multiply(w.latent, x[t]);
    pairs.push_back(multiply(w.key_value, rms_norm(part(latent, 0, c.latent.rank), w.latent_norm, epsilon)));
    rotated.push_back(part(latent, c.latent.rank, c.rope.n_rot));
    rotate_neighbours(rotated.back(), 0, c, t);
    Vector queries = c.latent.query_rank == 0
                         ? multiply(w.query, x[t])
                         : multiply(w.query, rms_norm(multiply(w.query_down, x[t]), w.query_norm, epsilon));
    Vector mixed;
    for (std::size_t h = 0; h < c.n_heads; ++h) {
      const std::size_t query = h * c.key_dim;
      const std::size_t key = h * (plain + c.value_dim);
      rotate_neighbours(queries, query + plain, c, t);
      Vector scores;
      for (std::size_t p = 0; p <= t; ++p) {
        const double score =
            dot(queries, query, pairs[p], key, plain) + dot(queries, query + plain, rotated[p], 0, c.rope.n_rot);
        const double scale = c.score_scale != 0.0F ? static_cast<double>(c.score_scale)
                                                   : 1.0 / std::sqrt(static_cast<double>(c.key_dim));
        scores.push_back(scale * score);
      }
      const Vector share = softmax(scores);
      for (std::size_t i = 0; i < c.value_dim; ++i) {
        double sum = 0.0;
        for (std::size_t p = 0; p <= t; ++p) sum += share[p] * pairs[p][key + plain + i];
        mixed.push_back(sum);
      }
    }
    out.push_back(multiply(w.output, mixed));
  }
  return out;
}

}  // namespace lazymoe::reference
