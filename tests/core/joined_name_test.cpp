#include <lazymoe/core/joined_name.hpp>

#include "support/catch.hpp"

namespace lazymoe {
namespace {

constexpr std::string_view first = "layer-";
constexpr std::string_view second = "lru";

}  // namespace

TEST_CASE("Two names are joined while compiling", "[core]") {
  STATIC_REQUIRE(JoinedName<first, second>::value == "layer-lru");
}

}  // namespace lazymoe
