#include <lazymoe/store/detail/expert_reads.hpp>

#include <memory>
#include <vector>

#include <lazymoe/storage/registry.hpp>

#include "store/hooked_storage.hpp"
#include "store/model_fixture.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

namespace lazymoe::store::detail {
namespace {

bool inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  const std::less_equal<const std::byte*> before;
  return before(whole.data(), part.data()) && before(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("An expert is fetched into its slot, or found where the storage has it", "[store][fetch]",
                        test::TypeList<storage::storages>) {
  const test::TinyMoe shape = GENERATE(
      test::TinyMoe{}, test::TinyMoe{.fused_gate_up = true}, test::TinyMoe{.n_experts = 1, .n_used = 1},
      test::TinyMoe{.n_embd = 36, .n_ff = 5, .expert_type = quant::TypeId::f16, .first_down_type = quant::TypeId::f32},
      test::TinyMoe{.n_embd = 36,
                    .n_ff = 5,
                    .fused_gate_up = true,
                    .expert_type = quant::TypeId::f32,
                    .first_down_type = quant::TypeId::f16});
  const test::ModelFixture model(shape, 5);
  TestType storage(model.file.paths());
  for (LayerIndex layer = 0; layer < shape.n_layers; ++layer) {
    const experts::LayerExperts& l = model.map.layer(layer);
    const bool in_slot = storage.footprint(l.gate.slice(0)) != 0;
    std::vector<std::byte> slot(in_slot ? static_cast<std::size_t>(SlotPlan::slot_bytes_of(l, storage::padding(storage))) : 0);
    for (ExpertIndex e = 0; e < shape.n_experts; ++e) {
      const ExpertView view = fetch_expert(storage, l, e, slot);
      REQUIRE(model.is_expert(view, layer, e));
      for (const auto& matrix : {view.gate, view.up, view.down}) CHECK(inside(matrix.bytes, slot) == in_slot);
    }
  }
}

TEST_CASE("A fused gate and up are one read, and the count of reads says so", "[store][fetch]") {
  const auto fused = GENERATE(false, true);
  const test::ModelFixture model({.fused_gate_up = fused});
  const auto hook = std::make_shared<test::Hook>();
  test::Hooked<storage::Mmap> storage(model.file.paths(), hook);
  const experts::LayerExperts& l = model.map.layer(2);

  (void)fetch_expert(storage, l, 6, {});

  const experts::ExpertSlices slices = model.map.slices(2, 6);
  const experts::SliceRef both{
      .shard = slices.gate.shard, .offset = slices.gate.offset, .bytes = slices.gate.bytes + slices.up.bytes};
  const auto expected =
      fused ? std::vector{both, slices.down} : std::vector{slices.gate, slices.up, slices.down};
  CHECK(hook->fetched() == expected);
  const ExpertReads reads(l, 6);
  CHECK(reads.size() == expected.size());
  for (std::size_t i = 0; i < reads.size(); ++i) CHECK(reads.is_down(i) == (i + 1 == expected.size()));
}

}  // namespace lazymoe::store::detail
