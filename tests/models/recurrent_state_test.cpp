#include <lazymoe/models/recurrent_state.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::models {
namespace {

constexpr RecurrentState::Shape shape{
    .n_layers = 2, .n_channels = 6, .n_tail = 3, .n_key_heads = 2, .n_value_heads = 4, .head_dim = 8, .chunk = 16};

/// Writes a number everywhere and counts `n` tokens.
void run(RecurrentState& state, float number, std::size_t n) {
  for (std::size_t i = 0; i < shape.n_layers; ++i) {
    const auto layer = state.layer(i);
    layer.tail[0] = layer.memory[0] = layer.keys[0] = layer.deltas[0] = layer.decays[0] = number;
  }
  state.advance(n);
}

/// Its numbers, if all are the same; looked at as a batch that is given up would.
float number(RecurrentState& state) {
  const float first = state.layer(0).tail[0];
  for (std::size_t i = 0; i < shape.n_layers; ++i) {
    const auto layer = state.layer(i);
    for (const float* at : {layer.tail, layer.memory, layer.keys, layer.deltas, layer.decays}) REQUIRE(*at == first);
  }
  state.advance(0);
  return first;
}

}  // namespace

TEST_CASE("A recurrent state is zero at first and has room for all its arrays", "[models]") {
  RecurrentState state(shape, 2);
  CHECK(state.length() == 0);
  std::vector<std::pair<float*, std::size_t>> arrays;
  for (std::size_t i = 0; i < shape.n_layers; ++i) {
    const auto layer = state.layer(i);
    arrays.insert(arrays.end(), {{layer.tail, 3 * 6},
                                 {layer.memory, 4 * 8 * 8},
                                 {layer.keys, 2 * 16 * 8},
                                 {layer.deltas, 4 * 16 * 8},
                                 {layer.decays, 4 * 16}});
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    for (std::size_t k = 0; k < arrays[i].second; ++k) CHECK(arrays[i].first[k] == 0.0F);
    if (i > 0) CHECK(arrays[i].first - arrays[i - 1].first >= static_cast<std::ptrdiff_t>(arrays[i - 1].second));
  }
  CHECK(state.bytes() >= 3 * 2 * (3 * 6 + 4 * 8 * 8 + 2 * 16 * 8 + 4 * 16 * 8 + 4 * 16) * sizeof(float));
}

TEST_CASE("Without chunks a recurrent state keeps no lists, and without snapshots no copies", "[models]") {
  RecurrentState::Shape steps = shape;
  steps.chunk = 0;
  CHECK(RecurrentState(steps, 0).bytes() == 2 * (32 + 4 * 8 * 8) * sizeof(float));  // tails of 18 fill 32
  CHECK(RecurrentState(steps, 3).bytes() == 4 * RecurrentState(steps, 0).bytes());
}

TEST_CASE("A recurrent state goes back to the last kept position, or to the start", "[models]") {
  RecurrentState state(shape, 2);
  run(state, 1.0F, 10);
  CHECK(state.rewind(10) == 10);
  CHECK(state.rewind(12) == 10);
  CHECK(number(state) == 1.0F);
  state.keep();
  run(state, 2.0F, 5);
  state.keep();
  run(state, 3.0F, 5);
  CHECK(state.length() == 20);

  CHECK(state.rewind(19) == 15);
  CHECK(number(state) == 2.0F);
  CHECK(state.rewind(14) == 10);
  CHECK(number(state) == 1.0F);
  // Position 15 was of tokens that are forgotten.
  run(state, 4.0F, 8);
  CHECK(state.rewind(16) == 10);
  CHECK(number(state) == 1.0F);
  CHECK(state.rewind(9) == 0);
  CHECK(number(state) == 0.0F);
  run(state, 5.0F, 12);
  CHECK(state.rewind(11) == 0);
}

TEST_CASE("The oldest snapshot gives way", "[models]") {
  RecurrentState state(shape, 2);
  for (int i = 1; i <= 3; ++i) {
    run(state, static_cast<float>(i), 10);
    state.keep();
    state.keep();  // changes nothing
  }
  run(state, 9.0F, 1);
  CHECK(state.rewind(30) == 30);
  CHECK(number(state) == 3.0F);
  CHECK(state.rewind(29) == 20);
  CHECK(number(state) == 2.0F);
  CHECK(state.rewind(19) == 0);
}

TEST_CASE("A state without snapshots goes back to the start alone", "[models]") {
  RecurrentState state(shape, 0);
  run(state, 1.0F, 10);
  state.keep();
  run(state, 2.0F, 1);
  CHECK(state.rewind(10) == 0);
}

TEST_CASE("A batch that failed half-way takes the state back to what was kept", "[models]") {
  RecurrentState state(shape, 1);
  run(state, 1.0F, 10);
  state.keep();
  run(state, 2.0F, 5);
  state.abandon();  // nothing was begun
  CHECK(state.length() == 15);
  state.layer(0).memory[0] = 7.0F;
  state.abandon();
  CHECK(state.length() == 10);
  CHECK(number(state) == 1.0F);

  state.layer(1).tail[0] = 7.0F;
  CHECK(state.rewind(10) == 10);
  CHECK(number(state) == 1.0F);
}

}  // namespace lazymoe::models
