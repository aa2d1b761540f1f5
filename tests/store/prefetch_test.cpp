#include <lazymoe/store/prefetch.hpp>

#include "prefetch_laws.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::store {

TEMPLATE_TEST_CASE("Every prefetch policy obeys the laws", "[store][prefetch]", NoPrefetch, SameAsLastToken,
                   GateLookahead, AnyPrefetch) {
  const auto seed = GENERATE(range(0U, 3U));
  test::check_prefetch_laws<TestType>(seed);
}

TEST_CASE("What is chosen by name behaves as what has the name", "[store][prefetch]") {
  test::check_prefetch_laws(1, AnyPrefetch::of("same-as-last-token"), AnyPrefetch(SameAsLastToken()));
  CHECK(AnyPrefetch::of("none").lookahead().depth == 0);
  CHECK(AnyPrefetch::of("gate-lookahead", {.depth = 3, .width = 5}).lookahead().width == 5);
  const Error error = test::error_of([] { (void)AnyPrefetch::of("gate"); });
  CHECK(error.code() == Errc::bad_argument);
  for (const std::string_view name : AnyPrefetch::names) CHECK(test::mentions(error, std::string(name)));
}

TEST_CASE("SameAsLastToken wants for the next layer what the token before chose there", "[store][prefetch]") {
  constexpr KeySpace space{.layers = 2, .experts = 8};
  SameAsLastToken policy;
  std::vector<ExpertIndex> wanted;
  LayerIndex wanted_of = 9;
  const auto route = [&](LayerIndex layer, std::vector<ExpertIndex> experts) {
    wanted.clear();
    policy.on_route({.layer = layer, .position = 0, .experts = experts, .weights = {}}, space, [&](LayerIndex l, std::span<const ExpertIndex> its) {
      wanted_of = l;
      wanted.assign(its.begin(), its.end());
    });
  };
  route(0, {1, 2});
  CHECK(wanted.empty());
  route(1, {3, 4});
  CHECK(wanted_of == 0);
  CHECK(wanted == std::vector<ExpertIndex>{1, 2});
  route(0, {5, 6});
  CHECK(wanted_of == 1);
  CHECK(wanted == std::vector<ExpertIndex>{3, 4});
}

}  // namespace lazymoe::store
