#include <lazymoe/models/architecture.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <boost/hana/for_each.hpp>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

/// Lacks a mixer.
struct Headless {
  static constexpr std::string_view name = "headless";
  static Config read_config(const gguf::Metadata&) { return {}; }
};
static_assert(!ModelArchitecture<Headless>);

}  // namespace

TEST_CASE("Every architecture is found by its name, once", "[models]") {
  boost::hana::for_each(architectures, [](auto architecture) {
    using A = typename decltype(architecture)::type;
    static_assert(ModelArchitecture<A>);
    std::vector<std::string_view> visited;
    visit_architecture(A::name, "m.gguf", [&](auto found) { visited.push_back(decltype(found)::type::name); });
    CHECK(visited == std::vector<std::string_view>{A::name});
  });
}

TEST_CASE("An unknown architecture is refused and the known ones are listed", "[models]") {
  for (const std::string_view name : {"gemma4", "", "qwen3", "qwen3moe2", "QWEN3MOE"}) {
    const Error error = test::error_of([&] { visit_architecture(name, "m.gguf", [](auto) { FAIL("visited"); }); });
    CHECK(error.code() == Errc::unsupported_model);
    CHECK(test::mentions(error, "m.gguf: architecture '" + std::string(name) + "' is not supported; these are: "));
    CHECK(test::mentions(error, "qwen3moe"));
  }
}

}  // namespace lazymoe::models
