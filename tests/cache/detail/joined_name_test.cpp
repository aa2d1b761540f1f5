#include <lazymoe/cache/detail/joined_name.hpp>

#include "support/catch.hpp"

namespace lazymoe::cache::detail {
namespace {

constexpr std::string_view first = "layer-";
constexpr std::string_view second = "lru";

}  // namespace

TEST_CASE("Two names are joined while compiling", "[cache]") {
  STATIC_REQUIRE(JoinedName<first, second>::value == "layer-lru");
}

}  // namespace lazymoe::cache::detail
