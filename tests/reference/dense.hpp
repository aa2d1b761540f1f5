#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <lazymoe/quant/decode.hpp>
#include <lazymoe/quant/packed_matrix.hpp>

/// The library's operations once more, by their formulas: double precision, loops, no cleverness.
namespace lazymoe::reference {

using Vector = std::vector<double>;

[[nodiscard]] inline Vector to_double(std::span<const float> x) { return {x.begin(), x.end()}; }

/// W x.
[[nodiscard]] inline Vector multiply(const quant::PackedMatrix& w, const Vector& x) {
  Vector y(w.rows, 0.0);
  std::vector<float> row(w.cols);
  for (std::size_t r = 0; r < w.rows; ++r) {
    quant::decode_row(w, r, row);
    for (std::size_t c = 0; c < w.cols; ++c) y[r] += static_cast<double>(row[c]) * x[c];
  }
  return y;
}

[[nodiscard]] inline Vector softmax(const Vector& x) {
  double largest = x.front();
  for (const double v : x) largest = v > largest ? v : largest;
  Vector y;
  double sum = 0.0;
  for (const double v : x) sum += y.emplace_back(std::exp(v - largest));
  for (double& v : y) v /= sum;
  return y;
}

[[nodiscard]] inline Vector rms_norm(const Vector& x, const Vector& weight, double epsilon) {
  double squares = 0.0;
  for (const double v : x) squares += v * v;
  Vector y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = weight[i] * x[i] / std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
  }
  return y;
}

/// The largest difference, relative to the root mean square of what is expected.
[[nodiscard]] inline double difference(std::span<const float> got, const Vector& expected) {
  double largest = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::fmax(largest, std::abs(static_cast<double>(got[i]) - expected[i]));
    squares += expected[i] * expected[i];
  }
  return largest / std::sqrt(squares / static_cast<double>(expected.size()));
}

}  // namespace lazymoe::reference
