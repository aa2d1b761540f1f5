#include <lazymoe/tensor/matmul.hpp>

#include <cmath>
#include <vector>

#include <lazymoe/quant/decode.hpp>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::tensor {
namespace {

using quant::TypeId;

Matrix random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  test::Noise noise(seed);
  Matrix x(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = noise.value();
  return x;
}

}  // namespace

TEST_CASE("matmul is the product with the decoded matrix, up to the rounding of activations", "[tensor]") {
  const auto type = GENERATE(TypeId::f32, TypeId::f16, TypeId::bf16, TypeId::q8_0, TypeId::q4_0, TypeId::q6_K);
  CAPTURE(quant::type_name(type));
  constexpr std::size_t rows = 37;
  constexpr std::size_t cols = 256;
  const auto bytes = test::TinyMoe::packed(test::Noise(1).values(rows * cols), type);
  const quant::PackedMatrix w{.type = type, .rows = rows, .cols = cols, .bytes = bytes};
  const Matrix x = random_matrix(3, cols, 2);
  Matrix y(3, rows);
  parallel::ThreadPool pool(2);
  Activations activations;
  activations.assign(x);
  matmul(w, activations, y, pool);

  std::vector<float> decoded(cols);
  for (std::size_t r = 0; r < rows; ++r) {
    quant::decode_row(w, r, decoded);
    for (std::size_t t = 0; t < 3; ++t) {
      double exact = 0.0;
      double size = 0.0;
      for (std::size_t i = 0; i < cols; ++i) {
        const double product = double{decoded[i]} * double{row(ConstRows(x), t)[i]};
        exact += product;
        size += std::abs(product);
      }
      const double bound = (type == TypeId::f32 ? 1e-6 : 0x1p-7) * size;
      CHECK(std::abs(row(ConstRows(y), t)[r] - exact) <= bound);
    }
  }
}

TEST_CASE("Neither threads nor the batch change a bit", "[tensor]") {
  const auto type = GENERATE(TypeId::f32, TypeId::q8_0, TypeId::q6_K);
  constexpr std::size_t rows = 500;
  constexpr std::size_t cols = 256;
  const auto bytes = test::TinyMoe::packed(test::Noise(1).values(rows * cols), type);
  const quant::PackedMatrix w{.type = type, .rows = rows, .cols = cols, .bytes = bytes};
  const Matrix x = random_matrix(9, cols, 2);
  parallel::ThreadPool one(1);
  Activations activations;
  Matrix expected(9, rows);
  activations.assign(x);
  matmul(w, activations, expected, one);
  for (const unsigned threads : {2U, 4U}) {
    parallel::ThreadPool pool(threads);
    for (Eigen::Index t = 0; t < 9; ++t) {
      Matrix y(1, rows);
      activations.assign(x.row(t));
      matmul(w, activations, y, pool);
      CHECK(y == expected.row(t));
    }
  }
}

TEST_CASE("multiply_rows takes the tokens it is told, in that order", "[tensor]") {
  const auto bytes = test::TinyMoe::packed(test::Noise(1).values(4 * 32), TypeId::f32);
  const quant::PackedMatrix w{.type = TypeId::f32, .rows = 4, .cols = 32, .bytes = bytes};
  const Matrix x = random_matrix(5, 32, 2);
  parallel::ThreadPool pool(1);
  Activations activations;
  activations.assign(x);
  Matrix all(5, 4);
  matmul(w, activations, all, pool);
  Matrix some = Matrix::Constant(2, 4, -1.0F);
  Rows out = some;
  multiply_rows(w, activations, std::vector<std::uint32_t>{4, 1}, 1, 3, out);
  CHECK(some(0, 1) == all(4, 1));
  CHECK(some(1, 2) == all(1, 2));
  CHECK(some(0, 0) == -1.0F);  // not its rows
  CHECK(some(0, 3) == -1.0F);
}

}  // namespace lazymoe::tensor
