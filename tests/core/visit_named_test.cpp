#include <lazymoe/core/visit_named.hpp>

#include <memory>

#include "support/catch.hpp"

namespace lazymoe {
namespace {

struct Tea {
  static constexpr std::string_view name = "tea";
  static constexpr int minutes = 3;
};
struct Coffee {
  static constexpr std::string_view name = "coffee";
  static constexpr int minutes = 4;
};
template <class T>
struct Tag {
  using type = T;
};

}  // namespace

TEST_CASE("visit_named calls the function with the named type only", "[core]") {
  const auto minutes = [](auto tag) { return decltype(tag)::type::minutes; };
  CHECK(visit_named("drink", "tea", minutes, Tag<Tea>{}, Tag<Coffee>{}) == 3);
  CHECK(visit_named("drink", "coffee", minutes, Tag<Tea>{}, Tag<Coffee>{}) == 4);
}

TEST_CASE("visit_named passes on move-only results and accepts functions without one", "[core]") {
  const auto made = visit_named("drink", "tea", [](auto) { return std::make_unique<int>(7); }, Tag<Tea>{});
  CHECK(*made == 7);

  int calls = 0;
  visit_named("drink", "coffee", [&](auto) { ++calls; }, Tag<Tea>{}, Tag<Coffee>{});
  CHECK(calls == 1);
}

TEST_CASE("visit_named refuses an unknown name and lists the known ones", "[core]") {
  try {
    visit_named("drink", "soup", [](auto) {}, Tag<Tea>{}, Tag<Coffee>{});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::bad_argument);
    CHECK(std::string(error.what()) == "drink \"soup\" is not one of tea coffee");
  }
}

}  // namespace lazymoe
