#include <lazymoe/trace/routing_trace.hpp>

#include <array>

#include "support/catch.hpp"

namespace lazymoe::trace {

TEST_CASE("A routing trace gives back the steps it was given", "[trace]") {
  constexpr KeySpace space{.layers = 2, .experts = 4};
  RoutingTrace trace(space);
  CHECK(trace.n_steps() == 0);
  CHECK(trace.widest_step() == 0);
  trace.add_step(0, std::array{3U, 1U});
  trace.add_step(1, std::array{0U});
  REQUIRE(trace.n_steps() == 2);
  CHECK(trace.space() == space);
  CHECK(trace.widest_step() == 2);
  CHECK(std::vector(trace.step(0).begin(), trace.step(0).end()) == std::vector{space.key(0, 3), space.key(0, 1)});
  CHECK(trace.step(1).front() == space.key(1, 0));
  CHECK(trace.keys().size() == 3);
}

}  // namespace lazymoe::trace
