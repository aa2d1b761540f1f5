#include <lazymoe/moe/dense_ffn.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <vector>

#include "reference/dense.hpp"
#include "support/catch.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::moe {
namespace {

/// A feed-forward of random weights that keeps their bytes.
struct Fixture {
  Fixture(std::size_t n_embd, std::size_t n_ff, quant::TypeId type)
      : ffn{matrix(n_ff, n_embd, type), matrix(n_ff, n_embd, type), matrix(n_embd, n_ff, type)} {}

  quant::PackedMatrix matrix(std::size_t rows, std::size_t cols, quant::TypeId type) {
    memory.push_back(test::TinyMoe::packed(noise.values(rows * cols), type));
    return {.type = type, .rows = rows, .cols = cols, .bytes = memory.back()};
  }

  tensor::Matrix inputs(std::size_t n_tokens) {
    tensor::Matrix x(static_cast<Eigen::Index>(n_tokens), static_cast<Eigen::Index>(ffn.gate.cols));
    for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = noise.value();
    return x;
  }

  [[nodiscard]] tensor::Matrix run(const tensor::Matrix& x, unsigned threads) const {
    parallel::ThreadPool pool(threads);
    DenseFfn::Scratch scratch;
    tensor::Activations inputs;
    inputs.assign(x);
    tensor::Matrix out(x.rows(), x.cols());
    ffn.run(inputs, scratch, pool, out);
    return out;
  }

  test::Noise noise{3};
  std::deque<std::vector<std::byte>> memory;
  DenseFfn ffn;
};

}  // namespace

TEST_CASE("DenseFfn is down(silu(gate x) * up x) for every token", "[moe]") {
  const auto [n_embd, n_ff] = GENERATE(std::pair(13U, 7U), std::pair(32U, 96U));
  Fixture f(n_embd, n_ff, quant::TypeId::f32);
  const tensor::Matrix x = f.inputs(5);
  const tensor::Matrix out = f.run(x, 1);
  for (std::size_t t = 0; t < 5; ++t) {
    const auto input = reference::to_double(tensor::row(tensor::ConstRows(x), t));
    auto hidden = reference::multiply(f.ffn.gate, input);
    const auto up = reference::multiply(f.ffn.up, input);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= up[i] / (1.0 + std::exp(-hidden[i]));
    const auto expected = reference::multiply(f.ffn.down, hidden);
    CHECK(reference::difference(tensor::row(tensor::ConstRows(out), t), expected) < 1e-5);
  }
}

TEST_CASE("Neither threads nor the batch change a bit of DenseFfn", "[moe]") {
  Fixture f(64, 128, quant::TypeId::q8_0);
  const tensor::Matrix x = f.inputs(9);
  const tensor::Matrix expected = f.run(x, 1);
  CHECK(f.run(x, 3) == expected);
  for (Eigen::Index t = 0; t < x.rows(); ++t) CHECK(f.run(x.middleRows(t, 1), 2) == expected.middleRows(t, 1));
}

}  // namespace lazymoe::moe
