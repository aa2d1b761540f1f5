#include <lazymoe/tensor/activations.hpp>

#include <vector>

#include <lazymoe/quant/registry.hpp>

#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::tensor {

TEST_CASE("Rows are rounded as one vector would be, whatever their place in the batch", "[tensor]") {
  parallel::ThreadPool pool(2);
  test::Noise noise(4);
  Matrix x(5, 512);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = noise.value();
  Activations activations;
  activations.assign(x);
  activations.prepare(quant::ActivationKind::q8_K, pool);
  activations.prepare(quant::ActivationKind::q8_0, pool);
  for (std::size_t t = 0; t < 5; ++t) {
    std::vector<quant::ActivationQ8_K> expected(2);
    quant::quantize<quant::ActivationKind::q8_K>(row(ConstRows(x), t), expected);
    const auto* blocks = activations.row<quant::Q4_K>(t);
    for (std::size_t b = 0; b < 2; ++b) {
      CHECK(blocks[b].d == expected[b].d);
      CHECK(std::equal(std::begin(blocks[b].q), std::end(blocks[b].q), std::begin(expected[b].q)));
    }
    std::vector<quant::ActivationBlock<quant::Q8_0>> small(16);
    quant::quantize<quant::ActivationKind::q8_0>(row(ConstRows(x), t), small);
    CHECK(std::memcmp(activations.row<quant::Q8_0>(t), small.data(), sizeof(small.front()) * small.size()) == 0);
  }
}

TEST_CASE("A new batch is rounded anew", "[tensor]") {
  parallel::ThreadPool pool(1);
  Matrix first = Matrix::Constant(1, 32, 1.0F);
  Matrix second = Matrix::Constant(3, 32, 2.0F);
  Activations activations;
  activations.assign(first);
  activations.prepare(quant::ActivationKind::f32, pool);
  activations.assign(second);
  activations.prepare(quant::ActivationKind::f32, pool);
  CHECK(activations.tokens() == 3);
  CHECK(activations.row<quant::F32>(2)[31] == 2.0F);
}

}  // namespace lazymoe::tensor
