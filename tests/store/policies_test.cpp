#include <lazymoe/store/policies.hpp>

#include <type_traits>

#include <lazymoe/cache/lru.hpp>
#include <lazymoe/storage/mmap.hpp>

#include "support/catch.hpp"

namespace lazymoe::store {
namespace {

struct Lab : DefaultPolicies {
  using Eviction = cache::Lru;
};
struct OtherLab : DefaultPolicies {
  using Storage = storage::Mmap;
};
struct NoEviction {
  using Storage = storage::Mmap;
  using Representation = KeepQuantized;
  using Prefetch = NoPrefetch;
};
struct WrongEviction : DefaultPolicies {
  using Eviction = int;
};

static_assert(StorePolicies<DefaultPolicies> && StorePolicies<Lab> && StorePolicies<OtherLab>);
static_assert(!StorePolicies<NoEviction> && !StorePolicies<WrongEviction>);

}  // namespace

TEST_CASE("One line of a bundle of policies changes one choice", "[store][policies]") {
  CHECK(std::is_same_v<Lab::Storage, DefaultPolicies::Storage>);
  CHECK_FALSE(std::is_same_v<Lab::Eviction, DefaultPolicies::Eviction>);
  CHECK(std::is_same_v<OtherLab::Eviction, DefaultPolicies::Eviction>);
}

}  // namespace lazymoe::store
