#include <lazymoe/store/detail/slot_contents.hpp>

#include <exception>

#include <lazymoe/core/error.hpp>

#include "store/model_fixture.hpp"
#include "support/catch.hpp"

namespace lazymoe::store::detail {
namespace {

constexpr SlotIndex slot{1};

PartView part(quant::PackedMatrix ExpertView::*member, std::size_t rows) {
  PartView view;
  PartView::Matrix& matrix = view.matrices[view.n++];
  matrix.member = member;
  matrix.matrix.rows = rows;
  return view;
}

const std::exception_ptr failure = std::make_exception_ptr(Error(Errc::io, "broken"));

/// A slot into which the three reads of an expert are to come.
struct Reading {
  Reading() : reads(model.map.layer(0), 0), contents(2) { contents.begin(slot, reads, false); }

  test::ModelFixture model;
  ExpertReads reads;
  SlotContents contents;
};

}  // namespace

TEST_CASE("A slot is half ready when gate and up are there, in whatever order reads arrive", "[store][slot_contents]") {
  Reading r;
  REQUIRE(r.reads.size() == 3);
  CHECK(r.contents.arrive(slot, r.reads, 1, part(&ExpertView::up, 5), nullptr) == Arrival::nothing);
  CHECK_FALSE(r.contents.ready(slot, Extent::gate_up));
  SECTION("down last") {
    CHECK(r.contents.arrive(slot, r.reads, 0, part(&ExpertView::gate, 4), nullptr) == Arrival::gate_up);
    CHECK(r.contents.ready(slot, Extent::gate_up));
    CHECK_FALSE(r.contents.ready(slot, Extent::whole));
    CHECK(r.contents.view(slot).up.rows == 5);
    CHECK(r.contents.view(slot).down.rows == 0);
    CHECK(r.contents.arrive(slot, r.reads, 2, part(&ExpertView::down, 6), nullptr) == Arrival::whole);
  }
  SECTION("down before gate") {
    CHECK(r.contents.arrive(slot, r.reads, 2, part(&ExpertView::down, 6), nullptr) == Arrival::nothing);
    CHECK_FALSE(r.contents.ready(slot, Extent::gate_up));
    CHECK(r.contents.arrive(slot, r.reads, 0, part(&ExpertView::gate, 4), nullptr) == Arrival::whole);
  }
  CHECK(r.contents.ready(slot, Extent::whole));
  CHECK(r.contents.view(slot).gate.rows == 4);
  CHECK(r.contents.view(slot).down.rows == 6);
  CHECK_FALSE(r.contents.failed(slot));
}

TEST_CASE("A failure is told when no read writes into the slot any more, and the next expert knows nothing of it",
          "[store][slot_contents]") {
  Reading r;
  CHECK(r.contents.arrive(slot, r.reads, 0, {}, failure) == Arrival::nothing);
  CHECK(r.contents.arrive(slot, r.reads, 1, part(&ExpertView::up, 5), nullptr) == Arrival::nothing);
  CHECK_FALSE(r.contents.ready(slot, Extent::gate_up));
  CHECK(r.contents.arrive(slot, r.reads, 2, {}, std::make_exception_ptr(Error(Errc::io, "also broken"))) == Arrival::whole);
  CHECK(r.contents.ready(slot, Extent::gate_up));
  CHECK(r.contents.failed(slot));
  for (int again = 0; again < 2; ++again) CHECK_THROWS_WITH(r.contents.view(slot), "broken");

  r.contents.begin(slot, r.reads, true);
  CHECK(r.contents.guessed(slot));
  CHECK_FALSE(r.contents.failed(slot));
  CHECK_FALSE(r.contents.ready(slot, Extent::whole));
  CHECK(r.contents.view(slot).up.rows == 0);
}

}  // namespace lazymoe::store::detail
