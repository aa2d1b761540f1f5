#include <lazymoe/store/all_resident.hpp>

#include <memory>
#include <vector>

#include <lazymoe/storage/registry.hpp>

#include "source_laws.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"
#include "support/type_list.hpp"

namespace lazymoe::store {

TEMPLATE_LIST_TEST_CASE("Every expert is resident and equals the file's bytes", "[store][all_resident]",
                        test::TypeList<storage::storages>) {
  const test::TinyMoe shape =
      GENERATE(test::TinyMoe{}, test::TinyMoe{.fused_gate_up = true},
               test::TinyMoe{.n_embd = 36,
                             .n_ff = 5,
                             .expert_type = quant::TypeId::f16,
                             .first_down_type = quant::TypeId::f32},
               test::TinyMoe{.fused_gate_up = true, .first_down_type = quant::TypeId::f16});
  const auto max_tensors = GENERATE(std::size_t{1000}, std::size_t{3});
  const test::ModelFixture model(shape, max_tensors);
  CHECK((model.file.paths().size() > 1) == (max_tensors == 3));
  AllResident<TestType> source(model.file);

  for (LayerIndex layer = 0; layer < shape.n_layers; ++layer) {
    CHECK(test::most_leases(source, layer, model.map.space()) == shape.n_experts);
    for (ExpertIndex e = 0; e < shape.n_experts; ++e) {
      CHECK(source.resident(layer, e));
      const std::vector asked{e};
      const Leases leases = source.acquire(layer, asked);
      REQUIRE(leases.ready(0));
      REQUIRE(model.is_expert(leases.wait(0), layer, e));
    }
  }
  test::check_source_laws(source, model);
}

TEMPLATE_LIST_TEST_CASE("Progress only grows and ends at the total", "[store][all_resident]",
                        test::TypeList<storage::storages>) {
  const test::ModelFixture model({.first_down_type = quant::TypeId::f16});
  std::vector<Bytes> done;
  const AllResident<TestType> source(model.file, [&](Bytes bytes, Bytes total) {
    CHECK(total == model.map.total_bytes());
    done.push_back(bytes);
  });
  REQUIRE(done.size() == 24);
  CHECK(done.front() == model.map.layer(0).bytes());
  CHECK(std::ranges::adjacent_find(done, std::greater_equal{}) == done.end());
  CHECK(done.back() == model.map.total_bytes());
}

TEST_CASE("A model with dense layers has its experts resident all the same", "[store][all_resident]") {
  gguf::Writer w = test::TinyMoe{}.writer();
  w.set("qwen3moe.block_count", std::uint32_t{4});  // the fourth has no tensors
  const test::TempDir directory;
  w.write(directory.path() / "dense.gguf");
  Bytes last = 0;
  const AllResident<> source(gguf::File(directory.path() / "dense.gguf"), [&](Bytes done, Bytes) { last = done; });
  CHECK_FALSE(source.map().has_experts(3));
  CHECK(last == source.map().total_bytes());
}

TEST_CASE("Loading ends with the error of a read that fails", "[store][all_resident]") {
  const test::ModelFixture model;
  const experts::SliceRef last = model.map.slices(2, 7).down;
  std::filesystem::resize_file(model.file.paths().front(), last.offset + last.bytes - 1);
  const Error error = test::error_of([&] { const AllResident<storage::Pread> source(model.file); });
  CHECK(error.code() == Errc::io);
  CHECK(test::mentions(error, model.file.paths().front().string()));
}

}  // namespace lazymoe::store
