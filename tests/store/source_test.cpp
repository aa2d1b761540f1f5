#include <lazymoe/store/source.hpp>

#include <array>
#include <type_traits>

#include "support/catch.hpp"

namespace lazymoe::store {
namespace {

static_assert(std::has_virtual_destructor_v<ExpertSource>);

/// The least that a source must define.
class Nothing : public ExpertSource {
 public:
  [[nodiscard]] Leases acquire(LayerIndex, std::span<const ExpertIndex>, Use) override { return {}; }
  [[nodiscard]] bool resident(LayerIndex, ExpertIndex) const override { return false; }
};

}  // namespace

TEST_CASE("A source need not care what the router chose or may choose", "[store][source]") {
  Nothing nothing;
  ExpertSource& source = nothing;
  constexpr std::array<ExpertIndex, 2> experts{3, 1};
  constexpr std::array weights{0.75F, 0.25F};
  source.on_route({.layer = 1, .position = 7, .experts = experts, .weights = weights});
  CHECK(source.lookahead().depth == 0);
  source.expect(2, experts);
  CHECK(source.acquire(1, experts, Use::step).size() == 0);
}

}  // namespace lazymoe::store
