#include <lazymoe/cache/eviction.hpp>

#include <new>

#include "eviction_laws.hpp"
#include "support/catch.hpp"
#include "support/count_allocations.hpp"

namespace lazymoe {
namespace {

/// The least an eviction policy can be: one slot.
struct LastOne {
  static constexpr std::string_view name = "last-one";
  explicit LastOne(KeySpace) {}
  void on_insert(ExpertKey k) noexcept { key = k; }
  void on_hit(ExpertKey) noexcept {}
  void on_erase(ExpertKey) noexcept { key.reset(); }
  template <class Pred>
  std::optional<ExpertKey> victim(Pred&& evictable) const {
    return key && evictable(*key) ? key : std::nullopt;
  }
  std::optional<ExpertKey> key;
};

struct Picky : LastOne {
  using LastOne::LastOne;
  bool admit(ExpertKey, ExpertKey) const noexcept { return false; }
};

struct MayThrow : LastOne {
  using LastOne::LastOne;
  void on_hit(ExpertKey) {}
};

}  // namespace

static_assert(cache::EvictionPolicy<LastOne> && !cache::AdmittingPolicy<LastOne>);
static_assert(cache::AdmittingPolicy<Picky>);
static_assert(!cache::EvictionPolicy<MayThrow>);
static_assert(!cache::EvictionPolicy<int>);

TEST_CASE("The allocation counter of the law test counts", "[cache]") {
  const auto before = test::allocations.load();
  ::operator delete(::operator new(8));  // unlike a new-expression, not for the optimiser to remove
  CHECK(test::allocations.load() > before);
}

}  // namespace lazymoe
