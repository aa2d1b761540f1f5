#include <lazymoe/moe/route_guesses.hpp>

#include <vector>

#include "support/catch.hpp"

namespace lazymoe::moe {
namespace {

class Told final : public store::ExpertSource {
 public:
  store::Leases acquire(LayerIndex, std::span<const ExpertIndex>, store::Use) override { return {}; }
  bool resident(LayerIndex, ExpertIndex) const override { return false; }
  void expect(LayerIndex l, std::span<const ExpertIndex> its) noexcept override {
    layer = l;
    experts.assign(its.begin(), its.end());
  }
  LayerIndex layer = 0;
  std::vector<ExpertIndex> experts;
};

}  // namespace

TEST_CASE("Guesses are what the router would choose, those of most tokens first", "[moe][route_guesses]") {
  // Expert e answers to column e.
  const std::vector<float> gate{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const RouterWeights weights{
      .gate_inp = {.type = quant::TypeId::f32, .rows = 4, .cols = 4, .bytes = std::as_bytes(std::span(gate))}};
  parallel::ThreadPool pool(1);
  Told source;
  RouteGuesses guesses;
  tensor::Matrix x(1, 4);
  x << 1, 4, 2, 3;
  guesses.run(6, TopKRouter{}, 2, weights, x, source, pool);
  CHECK(source.layer == 6);
  CHECK(source.experts == std::vector<ExpertIndex>{1, 3});

  tensor::Matrix batch(3, 4);
  batch << 9, 8, 0, 0, 0, 8, 9, 0, 0, 8, 9, 0;
  guesses.run(2, TopKRouter{}, 2, weights, batch, source, pool);
  CHECK(source.experts == std::vector<ExpertIndex>{2, 1, 0});  // votes 4, 3, 2

  guesses.run(2, TopKRouter{}, 40, weights, batch, source, pool);
  CHECK(source.experts.size() == 4);
}

}  // namespace lazymoe::moe
