#include <lazymoe/store/forwarding_source.hpp>

#include <vector>

#include <lazymoe/store/expert_store.hpp>

#include "source_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe::store {
namespace {

/// Notes what reaches it.
class Noting final : public ExpertSource {
 public:
  Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts, Use use) override {
    calls.push_back({layer, static_cast<ExpertIndex>(experts.size()), use == Use::prompt ? 1U : 0U});
    return {};
  }
  bool resident(LayerIndex layer, ExpertIndex expert) const override { return layer == 2 && expert == 3; }
  void on_route(const RouteEvent& event) override { calls.push_back({event.layer}); }
  Lookahead lookahead() const noexcept override { return {.depth = 4, .width = 5}; }
  void expect(LayerIndex layer, std::span<const ExpertIndex> experts) noexcept override {
    calls.push_back({layer, experts[0]});
  }
  std::vector<std::vector<std::uint32_t>> calls;
};

}  // namespace

TEST_CASE("A forwarding source passes every call on as it is", "[store][source]") {
  Noting inner;
  ForwardingSource source(inner);
  const std::vector<ExpertIndex> experts{7, 8};
  CHECK(source.acquire(1, experts, Use::prompt).size() == 0);
  CHECK(source.resident(2, 3));
  CHECK_FALSE(source.resident(3, 2));
  source.on_route({.layer = 6, .position = 0, .experts = experts, .weights = {}});
  source.expect(9, experts);
  CHECK(source.lookahead().depth == 4);
  CHECK(source.lookahead().width == 5);
  CHECK(inner.calls == std::vector<std::vector<std::uint32_t>>{{1, 2, 1}, {6}, {9, 7}});
}

TEST_CASE("A forwarding source is a source", "[store][source]") {
  const test::ModelFixture model;
  auto store = make_store<>(model.file, {.budget = ExpertBudget::experts(5)});
  ForwardingSource source(store);
  test::check_source_laws(source, model);
}

}  // namespace lazymoe::store
