#pragma once

#include <cstddef>
#include <span>

#include <Eigen/Core>

namespace lazymoe::tensor {

/// Activations of a batch, one token a row: x[tokens, width], row-major, so that a row is one contiguous vector.
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Borrowed rows of a Matrix, possibly fewer rows than were allocated.
using Rows = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstRows = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

[[nodiscard]] inline std::size_t row_count(const ConstRows& x) noexcept { return static_cast<std::size_t>(x.rows()); }
[[nodiscard]] inline std::size_t width(const ConstRows& x) noexcept { return static_cast<std::size_t>(x.cols()); }

/// Row `i` as contiguous values.
[[nodiscard]] inline std::span<const float> row(const ConstRows& x, std::size_t i) noexcept {
  return {x.data() + static_cast<std::ptrdiff_t>(i) * x.outerStride(), width(x)};
}
[[nodiscard]] inline std::span<float> row(Rows& x, std::size_t i) noexcept {
  return {x.data() + static_cast<std::ptrdiff_t>(i) * x.outerStride(), static_cast<std::size_t>(x.cols())};
}

[[nodiscard]] inline std::span<float> row(Matrix& x, std::size_t i) noexcept {
  const auto cols = static_cast<std::size_t>(x.cols());
  return {x.data() + i * cols, cols};
}

/// The first `n` rows of an allocated matrix.
[[nodiscard]] inline Rows first_rows(Matrix& m, std::size_t n) { return m.topRows(static_cast<Eigen::Index>(n)); }

}  // namespace lazymoe::tensor
