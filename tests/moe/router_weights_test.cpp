#include <lazymoe/moe/router_weights.hpp>

#include <vector>

#include "support/catch.hpp"

namespace lazymoe::moe {

TEST_CASE("Router logits are a product with a bias added", "[moe][router_weights]") {
  const std::vector<float> gate{1, 0, 2, 0, 0, 1, 0, 0, 0, 0, 1, 3};  // [3, 4]
  RouterWeights weights{.gate_inp = {.type = quant::TypeId::f32, .rows = 3, .cols = 4, .bytes = std::as_bytes(std::span(gate))}};
  tensor::Matrix x(2, 4);
  x << 1, 2, 3, 4, -1, 0, 0, 1;
  tensor::Activations inputs;
  parallel::ThreadPool pool(1);
  tensor::Matrix logits(2, 3);
  inputs.assign(x);
  multiply_router(weights, inputs, logits, pool);
  tensor::Matrix expected(2, 3);
  expected << 7, 2, 15, -1, 0, 3;
  CHECK(logits == expected);
  weights.bias = {10, 20, 30};
  multiply_router(weights, inputs, logits, pool);
  expected << 17, 22, 45, 9, 20, 33;
  CHECK(logits == expected);
}

}  // namespace lazymoe::moe
