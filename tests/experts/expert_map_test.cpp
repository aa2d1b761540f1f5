#include <lazymoe/experts/expert_map.hpp>

#include <set>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::experts {
namespace {

using Catch::Matchers::Contains;

/// The bytes of a slice, read the plain way.
std::vector<std::byte> read(const gguf::File& file, const SliceRef& slice) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(slice.bytes));
  io::FileHandle(file.shards()[slice.shard].path).read_exact_at(slice.offset, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("The slices of a layer's experts tile its tensors", "[experts]") {
  const test::TempDir directory;
  const gguf::File file(test::TinyMoe{}.write(directory.path()));
  const ExpertMap map(file);
  REQUIRE(map.space() == KeySpace{.layers = 3, .experts = 8});
  CHECK(map.n_used() == 2);

  for (LayerIndex layer = 0; layer < 3; ++layer) {
    const auto* up = file.find("blk." + std::to_string(layer) + ".ffn_up_exps.weight");
    Bytes at = up->offset;
    for (ExpertIndex e = 0; e < 8; ++e) {
      const SliceRef slice = map.slices(layer, e).up;
      CHECK(slice.offset == at);
      at += slice.bytes;
    }
    CHECK(at == up->offset + up->bytes);
  }
  Bytes all = 0;
  for (const auto& tensor : file.tensors()) all += tensor.slices() > 1 ? tensor.bytes : 0;
  CHECK(map.total_bytes() == all);
}

TEST_CASE("Gate and up of a fused tensor are its halves, gate first", "[experts]") {
  const test::TempDir directory;
  test::TinyMoe shape{.fused_gate_up = true};
  const gguf::File file(shape.write(directory.path()));
  const ExpertMap map(file);
  const auto* fused = file.find("blk.1.ffn_gate_up_exps.weight");
  const auto slices = map.slices(1, 3);
  CHECK(slices.gate.bytes == fused->bytes / 16);
  CHECK(slices.gate.offset == fused->offset + 3 * fused->bytes / 8);
  CHECK(slices.up.offset == slices.gate.offset + slices.gate.bytes);
  CHECK(slices.up.bytes == slices.gate.bytes);
  CHECK(map.layer(1).gate.rows == shape.n_ff);
}

TEST_CASE("Layers may differ in type, and each has its own size", "[experts]") {
  const test::TempDir directory;
  const gguf::File file(test::TinyMoe{.first_down_type = quant::TypeId::f16}.write(directory.path()));
  const ExpertMap map(file);
  CHECK(map.layer(0).down.type == quant::TypeId::f16);
  CHECK(map.layer(0).bytes() == 2 * 32 * 34 + 32 * 64);
  CHECK(map.layer(1).bytes() == 3 * 32 * 34);
}

TEST_CASE("A split file gives the same bytes", "[experts]") {
  const test::TempDir directory;
  const test::TinyMoe shape;
  const gguf::File whole(shape.write(directory.path()));
  const gguf::File split(shape.writer().write_split(directory.path() / "split", 5).front());
  REQUIRE(split.shards().size() > 3);
  const ExpertMap from_whole(whole);
  const ExpertMap from_split(split);
  std::set<std::uint32_t> shards;
  for (LayerIndex layer = 0; layer < 3; ++layer) {
    for (ExpertIndex e = 0; e < 8; ++e) {
      const auto a = from_whole.slices(layer, e);
      const auto b = from_split.slices(layer, e);
      CHECK(read(whole, a.gate) == read(split, b.gate));
      CHECK(read(whole, a.up) == read(split, b.up));
      CHECK(read(whole, a.down) == read(split, b.down));
      shards.insert(b.down.shard);
    }
  }
  CHECK(shards.size() > 1);
}

TEST_CASE("A map can be described by hand", "[experts]") {
  const auto matrix = [](Bytes offset, std::uint64_t rows, std::uint64_t cols) {
    return ExpertMatrix{.type = quant::TypeId{1000},
                        .tensor = {.offset = offset, .cols = cols, .rows = rows, .experts = 4, .block_elems = 16, .block_bytes = 5},
                        .rows = rows};
  };
  const ExpertMap map({std::nullopt, LayerExperts{matrix(100, 8, 16), matrix(300, 8, 16), matrix(500, 16, 32)}}, 4, 2);
  CHECK(map.space() == KeySpace{2, 4});
  CHECK(map.n_used() == 2);
  CHECK_FALSE(map.has_experts(0));
  CHECK(map.slices(1, 3).gate.offset == 100 + 3 * 8 * 5);
  CHECK(map.slices(1, 3).down.bytes == 16 * 2 * 5);
}

TEST_CASE("What does not fit is named, all at once", "[experts]") {
  const test::TempDir directory;
  const auto expect = [&](gguf::Writer writer, Errc code, const std::string& part) {
    writer.write(directory.path() / "bad.gguf");
    const gguf::File file(directory.path() / "bad.gguf");
    try {
      ExpertMap map(file);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.code() == code);
      CHECK_THAT(error.what(), Contains(part) && Contains("bad.gguf"));
    }
  };
  const auto keys = [] {
    gguf::Writer w;
    w.set("general.architecture", "qwen3moe");
    w.set("qwen3moe.block_count", std::uint32_t{2});
    w.set("qwen3moe.expert_count", std::uint32_t{4});
    w.set("qwen3moe.expert_used_count", std::uint32_t{2});
    return w;
  };
  const auto add = [](gguf::Writer& w, const std::string& name, std::vector<std::uint64_t> dims) {
    std::size_t n = 1;
    for (const auto d : dims) n *= d;
    w.add_tensor(name, dims, quant::TypeId::f32, std::vector<std::byte>(4 * n));
  };

  SECTION("no experts at all") {
    gguf::Writer w = keys();
    w.set("qwen3moe.expert_count", std::uint32_t{0});
    expect(w, Errc::unsupported_model, "the model has no routed experts");
    expect(keys(), Errc::unsupported_model, "no layer has expert tensors");
  }
  SECTION("more used than there are") {
    gguf::Writer w = keys();
    w.set("qwen3moe.expert_used_count", std::uint32_t{5});
    expect(w, Errc::bad_metadata, "4 experts, 5 used");
  }
  SECTION("missing and misshapen tensors of two layers") {
    gguf::Writer w = keys();
    add(w, "blk.0.ffn_gate_exps.weight", {8, 4, 4});
    add(w, "blk.0.ffn_down_exps.weight", {4, 8, 4});
    add(w, "blk.1.ffn_gate_exps.weight", {8, 4, 3});
    add(w, "blk.1.ffn_up_exps.weight", {8, 5, 4});
    add(w, "blk.1.ffn_down_exps.weight", {4, 8, 4});
    expect(w, Errc::bad_tensor, "tensor blk.0.ffn_up_exps.weight is missing");
    expect(w, Errc::bad_tensor, "tensor blk.1.ffn_gate_exps.weight has shape {8, 4, 3}");
    expect(w, Errc::bad_tensor, "tensor blk.1.ffn_up_exps.weight of shape {8, 5, 4} does not fit");
  }
}

}  // namespace lazymoe::experts
