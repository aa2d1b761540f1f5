#include <lazymoe/store/slot_plan.hpp>

#include <random>
#include <string>

#include "model_fixture.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::store {
namespace {

constexpr Bytes everything = ~Bytes{0};

/// Three layers of 8 experts; layer 0 has a wider down matrix.
const test::TinyMoe two_sizes{.first_down_type = quant::TypeId::f16};

Error refusal(const experts::ExpertMap& map, ExpertBudget budget) {
  return test::error_of([&] { const SlotPlan plan(map, budget); });
}

}  // namespace

TEST_CASE("A budget is read as bytes or as experts", "[store][plan]") {
  using Unit = ExpertBudget::Unit;
  const auto is = [](const char* text, Unit unit, std::uint64_t amount) {
    const auto budget = ExpertBudget::parse(text);
    return budget.unit == unit && budget.amount == amount;
  };
  CHECK(is("6GiB", Unit::bytes, 6_GiB));
  CHECK(is("1.5 GB", Unit::bytes, 1'500'000'000));
  CHECK(is("300000", Unit::bytes, 300'000));
  CHECK(is("0", Unit::bytes, 0));
  CHECK(is("24experts", Unit::experts, 24));
  CHECK(is("24 experts", Unit::experts, 24));
  CHECK(is("0experts", Unit::experts, 0));
  CHECK(is("18446744073709551615experts", Unit::experts, everything));

  for (const std::string text : {"", "experts", "-1experts", "+1experts", "1.5experts", "0x10experts", "2 4experts",
                                 "24expert", "24expertsx", "18446744073709551616experts", "6 gigs", "-1", "nan", "inf",
                                 "GiB", "1e300", "9e18GiB", "6GiB 6GiB"}) {
    CAPTURE(text);
    const Error error = test::error_of([&] { (void)ExpertBudget::parse(text); });
    CHECK(error.code() == Errc::bad_argument);
    CHECK(test::mentions(error, "'" + text + "'"));
  }
}

TEST_CASE("A budget is everything by default", "[store][plan]") {
  const test::ModelFixture model(two_sizes);
  const SlotPlan plan(model.map, {});
  CHECK(plan.n_slots() == 3 * 8);
  CHECK(ExpertBudget{}.amount == everything);
}

TEST_CASE("Layers of two sizes get slots of two sizes", "[store][plan]") {
  const test::ModelFixture model(two_sizes);
  const SlotPlan plan(model.map, {});
  REQUIRE(plan.classes().size() == 2);
  CHECK(plan.class_of(0) != plan.class_of(1));
  CHECK(plan.class_of(1) == plan.class_of(2));

  const SlotClass& wide = plan.classes()[plan.class_of(0)];
  const SlotClass& narrow = plan.classes()[plan.class_of(1)];
  CHECK(wide.slot_bytes == model.map.layer(0).bytes());
  CHECK(narrow.slot_bytes == model.map.layer(1).bytes());
  CHECK(wide.n_layers == 1);
  CHECK(narrow.n_layers == 2);
  CHECK(wide.n_slots == 8);
  CHECK(narrow.n_slots == 16);
  CHECK(plan.total_bytes() == model.map.total_bytes());
}

TEST_CASE("Matrices of odd sizes are given room to begin on cache lines", "[store][plan]") {
  const test::ModelFixture model(
      {.n_embd = 36, .n_ff = 5, .expert_type = quant::TypeId::f16, .first_down_type = quant::TypeId::f16});
  REQUIRE(model.map.layer(0).bytes() == 3 * 2 * 36 * 5);
  CHECK(SlotPlan::slot_bytes_of(model.map.layer(0)) == 3 * 384);
}

TEST_CASE("Storages that read more than a matrix get room for it in every slot", "[store][plan]") {
  const test::ModelFixture model(two_sizes);
  constexpr Bytes padding = 3 * 4095;
  const Bytes slot = SlotPlan::slot_bytes_of(model.map.layer(1), padding);
  CHECK(slot >= model.map.layer(1).bytes() + 3 * padding);
  CHECK(slot < model.map.layer(1).bytes() + 3 * (padding + SlotPlan::slot_alignment));

  const Bytes floor = SlotPlan::floor_bytes(model.map, padding);
  CHECK(SlotPlan(model.map, floor, padding).total_bytes() == floor);
  CHECK(test::error_of([&] { const SlotPlan plan(model.map, floor - 1, padding); }).code() == Errc::over_budget);
  CHECK(SlotPlan(model.map, {}, padding).n_slots() == 3 * 8);
}

TEST_CASE("No budget in bytes is exceeded, and what it leaves over is less than a slot", "[store][plan]") {
  const test::ModelFixture model(two_sizes);
  const Bytes floor = SlotPlan::floor_bytes(model.map);
  const Bytes all = model.map.total_bytes();
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Bytes budget = floor + random() % (all + 1000 - floor);
    CAPTURE(budget);
    const SlotPlan plan(model.map, budget);
    REQUIRE(plan.total_bytes() <= budget);
    for (const SlotClass& c : plan.classes()) {
      REQUIRE(c.n_slots >= model.map.n_used());
      REQUIRE(c.n_slots <= 8 * c.n_layers);
      REQUIRE((c.n_slots == 8 * c.n_layers || plan.total_bytes() + c.slot_bytes > budget));
    }
  }
}

TEST_CASE("Classes grow in step with the experts that share them", "[store][plan]") {
  const test::ModelFixture model(two_sizes);
  for (std::uint64_t n = 6; n <= 24; ++n) {
    CAPTURE(n);
    const SlotPlan plan(model.map, ExpertBudget::experts(n));
    REQUIRE(plan.n_slots() == n);
    const double wide = static_cast<double>(plan.classes()[plan.class_of(0)].n_slots);
    const double narrow = static_cast<double>(plan.classes()[plan.class_of(1)].n_slots) / 2;
    CHECK(std::abs(wide - narrow) <= 1);
  }
}

TEST_CASE("The floor is the smallest budget that is accepted", "[store][plan]") {
  const test::TinyMoe shape =
      GENERATE(test::TinyMoe{}, two_sizes, test::TinyMoe{.n_experts = 1, .n_used = 1},
               test::TinyMoe{.n_experts = 4, .n_used = 4}, test::TinyMoe{.n_used = 7, .fused_gate_up = true});
  const test::ModelFixture model(shape);
  const Bytes floor = SlotPlan::floor_bytes(model.map);
  const SlotPlan plan(model.map, floor);
  CHECK(plan.total_bytes() == floor);
  CHECK(plan.n_slots() == plan.classes().size() * shape.n_used);
  CHECK(refusal(model.map, floor - 1).code() == Errc::over_budget);
  CHECK(refusal(model.map, Bytes{0}).code() == Errc::over_budget);

  const std::uint64_t least = plan.n_slots();
  CHECK(SlotPlan(model.map, ExpertBudget::experts(least)).n_slots() == least);
  CHECK(refusal(model.map, ExpertBudget::experts(least - 1)).code() == Errc::over_budget);
  CHECK(refusal(model.map, ExpertBudget::experts(0)).code() == Errc::over_budget);
}

TEST_CASE("A refusal shows the arithmetic", "[store][plan]") {
  SECTION("slots of one size") {
    const test::ModelFixture model;
    const Error error = refusal(model.map, Bytes{6527});
    CAPTURE(error.what());
    CHECK(SlotPlan::floor_bytes(model.map) == 2 * 3264);
    CHECK(test::mentions(error, "budget of 6527 bytes"));
    CHECK(test::mentions(error, "6528 bytes (6.38 KiB)"));
    CHECK(test::mentions(error, "one layer uses 2 experts of 3264 bytes at once"));
  }
  SECTION("slots of two sizes") {
    const test::ModelFixture model(two_sizes);
    const Error error = refusal(model.map, Bytes{1000});
    CAPTURE(error.what());
    CHECK(SlotPlan::floor_bytes(model.map) == 2 * (4224 + 3264));
    CHECK(test::mentions(error, "14976 bytes (14.62 KiB)"));
    CHECK(test::mentions(error, "one layer uses 2 experts of (4224 + 3264) bytes at once"));
  }
  SECTION("in experts") {
    const test::ModelFixture model(two_sizes);
    const Error error = refusal(model.map, ExpertBudget::experts(3));
    CAPTURE(error.what());
    CHECK(test::mentions(error, "budget of 3 experts"));
    CHECK(test::mentions(error, "4 experts: one layer uses 2 experts of each of 2 sizes at once"));
  }
}

TEST_CASE("A huge budget plans for every expert and no more", "[store][plan]") {
  const test::ModelFixture model(two_sizes);
  for (const ExpertBudget budget : {ExpertBudget(everything), ExpertBudget(Bytes{1} << 63),
                                    ExpertBudget::experts(everything), ExpertBudget(model.map.total_bytes())}) {
    const SlotPlan plan(model.map, budget);
    CHECK(plan.n_slots() == 24);
    CHECK(plan.total_bytes() == model.map.total_bytes());
  }
  CHECK(SlotPlan(model.map, model.map.total_bytes() - 1).n_slots() == 23);
}

TEST_CASE("Layers without experts take no slots", "[store][plan]") {
  gguf::Writer w = test::TinyMoe{}.writer();
  w.set("qwen3moe.block_count", std::uint32_t{4});  // the fourth has no tensors: dense
  const test::TempDir directory;
  w.write(directory.path() / "dense.gguf");
  const experts::ExpertMap map{gguf::File(directory.path() / "dense.gguf")};
  REQUIRE_FALSE(map.has_experts(3));
  const SlotPlan plan(map, {});
  CHECK(plan.n_slots() == 24);
  CHECK(plan.classes().front().n_layers == 3);
}

}  // namespace lazymoe::store
