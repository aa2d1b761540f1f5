#include <lazymoe/cache/registry.hpp>

#include <algorithm>

#include "support/catch.hpp"

namespace lazymoe::cache {

TEST_CASE("Every eviction policy can be chosen by its name", "[cache]") {
  for (const std::string_view name : eviction_names()) {
    CHECK(visit_eviction(name, [](auto policy) { return decltype(policy)::type::name; }) == name);
  }
}

TEST_CASE("The names of eviction policies are distinct", "[cache]") {
  auto names = eviction_names();
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
}

TEST_CASE("An unknown eviction policy is refused and the known ones are listed", "[cache]") {
  try {
    visit_eviction("random", [](auto) {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::bad_argument);
    CHECK(std::string(error.what()) ==
          "eviction policy \"random\" is not one of fifo lru lfu lfu-aged lfu-ghost sieve s3-fifo w-tinylfu "
          "least-stale");
  }
}

}  // namespace lazymoe::cache
