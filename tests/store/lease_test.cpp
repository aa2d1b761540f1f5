#include <lazymoe/store/lease.hpp>

#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::store {
namespace {

static_assert(!std::is_copy_constructible_v<Leases> && !std::is_copy_assignable_v<Leases>);
static_assert(std::is_nothrow_move_constructible_v<Leases> && std::is_nothrow_move_assignable_v<Leases>);

/// Remembers what is released; the slot's number is the view's number of rows.
class Keeper : public LeaseKeeper {
 public:
  [[nodiscard]] bool ready(SlotIndex slot, Extent extent) const override {
    return slot != SlotIndex{9} || extent == Extent::gate_up;
  }
  [[nodiscard]] std::uint64_t arrivals() override { return n_arrivals; }
  void wait_arrival(std::uint64_t seen, SlotIndex) override { n_arrivals = seen + 1; }
  [[nodiscard]] ExpertView wait(SlotIndex slot, Extent) override {
    ExpertView view;
    view.gate.rows = static_cast<std::size_t>(slot);
    return view;
  }
  void release(std::span<const SlotIndex> slots) noexcept override {
    for (const SlotIndex slot : slots) released.push_back(static_cast<std::uint32_t>(slot));
  }

  std::vector<std::uint32_t> released;
  std::uint64_t n_arrivals = 0;
};

using Slots = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("Leases answer in the order asked and release everything once", "[store][lease]") {
  Keeper keeper;
  {
    const Leases leases(keeper, {SlotIndex{5}, SlotIndex{9}, SlotIndex{2}});
    REQUIRE(leases.size() == 3);
    CHECK(leases.wait(0).gate.rows == 5);
    CHECK(leases.wait(2).gate.rows == 2);
    CHECK(leases.ready(0));
    CHECK_FALSE(leases.ready(1));
    CHECK(leases.ready(1, Extent::gate_up));
    const std::uint64_t seen = leases.arrivals();
    leases.wait_arrival(seen);
    CHECK(leases.arrivals() > seen);
    CHECK(keeper.released.empty());
  }
  CHECK(keeper.released == Slots{5, 9, 2});
}

TEST_CASE("Leases of nothing release nothing", "[store][lease]") {
  Keeper keeper;
  {
    const Leases none;
    const Leases empty(keeper, {});
    CHECK(none.size() == 0);
    CHECK(empty.size() == 0);
  }
  CHECK(keeper.released.empty());
}

TEST_CASE("A move hands the pins over", "[store][lease]") {
  Keeper keeper;
  {
    std::optional<Leases> first(std::in_place, keeper, std::vector{SlotIndex{1}});
    const Leases second(std::move(*first));
    CHECK(first->size() == 0);
    first.reset();
    CHECK(keeper.released.empty());
    CHECK(second.wait(0).gate.rows == 1);
  }
  CHECK(keeper.released == Slots{1});
}

TEST_CASE("An assignment releases what was held, and at once", "[store][lease]") {
  Keeper one;
  Keeper other;
  Leases leases(one, {SlotIndex{1}});
  Leases next(other, {SlotIndex{2}, SlotIndex{3}});
  leases = std::move(next);
  CHECK(one.released == Slots{1});
  CHECK(other.released.empty());
  CHECK(leases.wait(1).gate.rows == 3);
  leases = Leases();
  CHECK(other.released == Slots{2, 3});
  CHECK(one.released == Slots{1});
}

TEST_CASE("Leases may end on another thread", "[store][lease]") {
  Keeper keeper;
  Leases leases(keeper, {SlotIndex{4}});
  std::thread([mine = std::move(leases)] { (void)mine.wait(0); }).join();
  CHECK(keeper.released == Slots{4});
}

}  // namespace lazymoe::store
