#include <lazymoe/moe/routed_ffn.hpp>

#include <algorithm>
#include <deque>
#include <vector>

#include "reference/routed_ffn.hpp"
#include "support/catch.hpp"
#include "support/fake_source.hpp"
#include "support/throws.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::moe {
namespace {

using quant::TypeId;

struct Types {
  TypeId gate = TypeId::f32;
  TypeId up = TypeId::f32;
  TypeId down = TypeId::f32;
};

/// Random weights and inputs of one layer.
class Layer {
 public:
  Layer(std::size_t n_experts, std::size_t n_embd, std::size_t n_ff, Types types, std::uint64_t seed = 1)
      : noise_(seed) {
    router_weights = matrix(n_experts, n_embd, TypeId::f32);
    for (std::size_t e = 0; e < n_experts; ++e) {
      experts.push_back({.gate = matrix(n_ff, n_embd, types.gate),
                         .up = matrix(n_ff, n_embd, types.up),
                         .down = matrix(n_embd, n_ff, types.down)});
    }
  }

  tensor::Matrix inputs(std::size_t n_tokens) {
    tensor::Matrix x(static_cast<Eigen::Index>(n_tokens), static_cast<Eigen::Index>(router_weights.cols));
    for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = noise_.value();
    return x;
  }

  quant::PackedMatrix router_weights;
  std::vector<store::ExpertView> experts;

 private:
  quant::PackedMatrix matrix(std::size_t rows, std::size_t cols, TypeId type) {
    memory_.push_back(test::TinyMoe::packed(noise_.values(rows * cols), type));
    return {.type = type, .rows = rows, .cols = cols, .bytes = memory_.back()};
  }

  test::Noise noise_;
  std::deque<std::vector<std::byte>> memory_;
};

constexpr TopKRouter router{};

tensor::Matrix run(RoutedFfn& ffn, const Layer& layer, std::size_t k, const tensor::Matrix& x,
                   store::ExpertSource& source, parallel::ThreadPool& pool, std::size_t first_position = 0) {
  tensor::Matrix out(x.rows(), x.cols());
  ffn.run(0, router, k, {.gate_inp = layer.router_weights}, {}, x, first_position, source, pool, [] {}, out);
  return out;
}

/// With every expert at hand.
tensor::Matrix run(const Layer& layer, std::size_t k, const tensor::Matrix& x) {
  test::FakeSource source(layer.experts, layer.experts.size(), 1);
  parallel::ThreadPool pool(1);
  RoutedFfn ffn;
  return run(ffn, layer, k, x, source, pool);
}

/// The largest difference from the reference over all tokens.
double error(const Layer& layer, std::size_t k, const tensor::Matrix& x) {
  const tensor::Matrix out = run(layer, k, x);
  double largest = 0.0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(x.rows()); ++t) {
    const auto input = reference::to_double(tensor::row(x, t));
    const auto choices = reference::route(reference::multiply(layer.router_weights, input), k, true, 1.0);
    largest = std::max(largest, reference::difference(tensor::row(out, t),
                                                      reference::routed_ffn(layer.experts, choices, input)));
  }
  return largest;
}

}  // namespace

TEST_CASE("RoutedFfn computes the weighted sum of the chosen experts", "[moe]") {
  const std::size_t n_tokens = GENERATE(1U, 9U);
  CAPTURE(n_tokens);
  SECTION("for widths of whole registers") {
    Layer layer(8, 32, 64, {});
    CHECK(error(layer, 3, layer.inputs(n_tokens)) < 1e-5);
  }
  SECTION("for odd widths") {
    Layer layer(5, 13, 7, {});
    CHECK(error(layer, 2, layer.inputs(n_tokens)) < 1e-5);
  }
  SECTION("when all experts are chosen, or one") {
    Layer layer(4, 24, 8, {});
    CHECK(error(layer, 4, layer.inputs(n_tokens)) < 1e-5);
    CHECK(error(layer, 1, layer.inputs(n_tokens)) < 1e-5);
  }
  SECTION("for packed weights, whose inputs are rounded to 8 bits") {
    Layer layer(6, 64, 32, {.gate = TypeId::q8_0, .up = TypeId::q8_0, .down = TypeId::q8_0});
    CHECK(error(layer, 2, layer.inputs(n_tokens)) < 0.05);
  }
  SECTION("for gate, up and down of different types") {
    Layer layer(6, 64, 32, {.gate = TypeId::q8_0, .up = TypeId::f32, .down = TypeId::f16});
    CHECK(error(layer, 2, layer.inputs(n_tokens)) < 0.05);
  }
}

TEST_CASE("Neither the order of arrival nor the number of leases nor the threads change a bit", "[moe]") {
  Layer layer(8, 64, 32, {.gate = TypeId::q8_0, .up = TypeId::q8_0, .down = TypeId::q4_0});
  const tensor::Matrix x = layer.inputs(12);
  const tensor::Matrix expected = run(layer, 3, x);
  for (const unsigned threads : {1U, 3U}) {
    parallel::ThreadPool pool(threads);
    RoutedFfn ffn;
    for (std::size_t most = 1; most <= 8; ++most) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        CAPTURE(threads, most, seed);
        test::FakeSource source(layer.experts, most, seed);
        REQUIRE(run(ffn, layer, 3, x, source, pool) == expected);
        REQUIRE(source.pinned == 0);
      }
    }
  }
}

TEST_CASE("A batch gives the bits of its tokens one by one", "[moe]") {
  Layer layer(6, 32, 32, {.gate = TypeId::q8_0, .up = TypeId::q8_0, .down = TypeId::q8_0});
  const tensor::Matrix x = layer.inputs(10);
  const tensor::Matrix together = run(layer, 2, x);
  for (Eigen::Index t = 0; t < x.rows(); ++t) CHECK(run(layer, 2, x.middleRows(t, 1)) == together.middleRows(t, 1));
}

TEST_CASE("Each expert that a batch needs is asked for once", "[moe]") {
  Layer layer(8, 32, 32, {});
  const tensor::Matrix x = layer.inputs(20);
  const std::size_t most = GENERATE(1U, 3U, 8U);
  test::FakeSource source(layer.experts, most, 2);
  parallel::ThreadPool pool(1);
  RoutedFfn ffn;
  (void)run(ffn, layer, 2, x, source, pool);
  auto wanted = source.routed;
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::sort(source.asked.begin(), source.asked.end());
  CHECK(source.asked == wanted);
}

TEST_CASE("Every choice of the router is told before experts are asked for", "[moe]") {
  Layer layer(5, 16, 16, {});
  const tensor::Matrix x = layer.inputs(3);
  test::FakeSource source(layer.experts, 5, 1);
  parallel::ThreadPool pool(1);
  RoutedFfn ffn;
  (void)run(ffn, layer, 2, x, source, pool, 100);
  CHECK(source.positions == std::vector<std::size_t>{100, 101, 102});
  for (std::size_t t = 0; t < 3; ++t) {
    const auto logits = reference::multiply(layer.router_weights, reference::to_double(tensor::row(x, t)));
    const auto choices = reference::route(logits, 2, true, 1.0);
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(source.routed[2 * t + j] == choices[j].expert);
      CHECK(static_cast<double>(source.weights[2 * t + j]) == Approx(choices[j].weight));
    }
  }
}

TEST_CASE("An expert that cannot be read leaves nothing pinned, and the next run is right", "[moe]") {
  Layer layer(4, 32, 32, {});
  const tensor::Matrix x = layer.inputs(6);
  const std::size_t most = GENERATE(1U, 2U, 4U);
  test::FakeSource source(layer.experts, most, 1);
  parallel::ThreadPool pool(2);
  RoutedFfn ffn;
  source.broken = 2;
  CHECK(test::error_of([&] { (void)run(ffn, layer, 3, x, source, pool); }).code() == Errc::io);
  CHECK(source.pinned == 0);
  source.broken.reset();
  CHECK(run(ffn, layer, 3, x, source, pool) == run(layer, 3, x));
}

TEST_CASE("One scratch serves layers of different widths in turn", "[moe]") {
  Layer narrow(4, 16, 8, {}, 1);
  Layer wide(6, 48, 64, {}, 2);
  const tensor::Matrix x = narrow.inputs(7);
  const tensor::Matrix y = wide.inputs(3);
  test::FakeSource narrow_source(narrow.experts, 4, 1);
  test::FakeSource wide_source(wide.experts, 6, 1);
  parallel::ThreadPool pool(1);
  RoutedFfn ffn;
  for (int repeat = 0; repeat < 2; ++repeat) {
    CHECK(run(ffn, narrow, 2, x, narrow_source, pool) == run(narrow, 2, x));
    CHECK(run(ffn, wide, 3, y, wide_source, pool) == run(wide, 3, y));
  }
}

}  // namespace lazymoe::moe
