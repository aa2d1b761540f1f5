#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <lazymoe/store/representation.hpp>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::test {

/// A matrix of noise in a format of files.
class NoiseMatrix {
 public:
  NoiseMatrix(std::size_t rows, std::size_t cols, quant::TypeId type, std::uint64_t seed = 1)
      : memory_(TinyMoe::packed(Noise(seed).values(rows * cols), type)),
        matrix{.type = type, .rows = rows, .cols = cols, .bytes = memory_} {}

 private:
  std::vector<std::byte> memory_;

 public:
  quant::PackedMatrix matrix;
};

/// What R makes of a matrix, and the bytes it lies in.
template <store::RepresentationPolicy R>
std::vector<std::byte> converted(const quant::PackedMatrix& from) {
  std::vector<std::byte> to(static_cast<std::size_t>(store::converted_bytes<R>(from.type, from.rows, from.cols)));
  R::convert(from, to);
  return to;
}

template <store::RepresentationPolicy R>
void check_representation_laws() {
  for (const quant::TypeId type : {quant::TypeId::f32, quant::TypeId::f16, quant::TypeId::q8_0}) {
    const NoiseMatrix m(5, 64, type);
    const quant::TypeId target = R::target(type, 64);
    const auto bytes = converted<R>(m.matrix);
    REQUIRE(bytes.size() == 5 * quant::row_bytes(target, 64));
    CHECK(converted<R>(m.matrix) == bytes);
    if (target == type) CHECK(std::ranges::equal(bytes, m.matrix.bytes));
    std::vector<float> was(64);
    std::vector<float> is(64);
    double error = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      quant::decode_row(m.matrix, i, was);
      quant::decode_row({.type = target, .rows = 5, .cols = 64, .bytes = bytes}, i, is);
      for (std::size_t j = 0; j < 64; ++j) error = std::max<double>(error, std::abs(was[j] - is[j]));
    }
    CHECK(error <= (target == type || target == quant::TypeId::f32 ? 0.0 : 0.2));
  }
}

}  // namespace lazymoe::test
