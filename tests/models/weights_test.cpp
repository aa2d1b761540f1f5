#include <lazymoe/models/weights.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

using quant::TypeId;

/// Writes files of a few tensors of noise.
class Files {
 public:
  Files() { writer_.set("general.architecture", "some"); }

  void add(const std::string& name, const std::vector<std::uint64_t>& dims, TypeId type = TypeId::f32) {
    std::size_t n = 1;
    for (const auto d : dims) n *= static_cast<std::size_t>(d);
    contents_.push_back({name, test::TinyMoe::packed(noise_.values(n), type)});
    writer_.add_tensor(name, dims, type, contents_.back().second);
  }

  [[nodiscard]] gguf::File open() const {
    const auto path = directory_.path() / "m.gguf";
    writer_.write(path);
    return gguf::File(path);
  }
  [[nodiscard]] gguf::File open_split(std::size_t max_tensors) const {
    return gguf::File(writer_.write_split(directory_.path() / "m", max_tensors).front());
  }

  [[nodiscard]] const std::vector<std::byte>& content(const std::string& name) const {
    return std::ranges::find(contents_, name, &std::pair<std::string, std::vector<std::byte>>::first)->second;
  }

 private:
  test::TempDir directory_;
  gguf::Writer writer_;
  test::Noise noise_{9};
  std::vector<std::pair<std::string, std::vector<std::byte>>> contents_;
};

bool same(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

constexpr std::size_t n_layers = 3;

WeightStorage several_at_once() {
  WeightStorage how = WeightStorage::read;
  how.reads = 3;
  return how;
}

}  // namespace

TEST_CASE("Weights come as the file holds them, from memory or from a mapping", "[models]") {
  const WeightStorage how = GENERATE(values<WeightStorage>({WeightStorage::read, WeightStorage::mmap, several_at_once()}));
  const bool split = GENERATE(false, true);
  Files files;
  files.add("a.weight", {64, 3}, TypeId::q8_0);
  files.add("b.weight", {5}, TypeId::f32);
  files.add("c.weight", {7, 2}, TypeId::f16);
  const gguf::File file = split ? files.open_split(1) : files.open();

  quant::PackedMatrix a;
  quant::PackedMatrix c;
  std::vector<float> b;
  WeightBinder binder(file);
  binder.matrix(c, "c.weight", 2, 7);
  binder.matrix(a, "a.weight", 3, 64);
  binder.vector(b, "b.weight", 5);
  binder.check(n_layers);
  ResidentWeights loaded = binder.load(how, {});
  const ResidentWeights weights = std::move(loaded);  // views survive a move

  CHECK((a.type == TypeId::q8_0 && a.rows == 3 && a.cols == 64));
  CHECK((c.type == TypeId::f16 && c.rows == 2 && c.cols == 7));
  CHECK(same(a.bytes, files.content("a.weight")));
  CHECK(same(c.bytes, files.content("c.weight")));
  CHECK(same(std::as_bytes(std::span(b)), files.content("b.weight")));
  CHECK(weights.bytes() == 3 * 68 + 5 * 4 + 7 * 2 * 2);
}

TEST_CASE("A vector is float whatever the file has", "[models]") {
  Files files;
  files.add("v.weight", {32}, TypeId::q8_0);
  const gguf::File file = files.open();
  std::vector<float> v;
  WeightBinder binder(file);
  binder.vector(v, "v.weight", 32);
  const ResidentWeights weights = binder.load(WeightStorage::read, {});
  std::vector<float> expected(32);
  quant::decode_row({.type = TypeId::q8_0, .rows = 1, .cols = 32, .bytes = files.content("v.weight")}, 0, expected);
  CHECK(v == expected);
}

TEST_CASE("Parts of a tensor go to places of their own", "[models]") {
  Files files;
  files.add("a.weight", {64, 5}, TypeId::q8_0);
  files.add("b.weight", {5});
  const gguf::File file = files.open();
  quant::PackedMatrix upper;
  quant::PackedMatrix lower;
  std::vector<float> head;
  std::vector<float> tail;
  WeightBinder binder(file);
  binder.matrix_part(upper, "a.weight", 0, 2, 5, 64);
  binder.matrix_part(lower, "a.weight", 2, 3, 5, 64);
  binder.vector_part(head, "b.weight", 0, 2, 5);
  binder.vector_part(tail, "b.weight", 2, 3, 5);
  binder.check(n_layers);
  const ResidentWeights weights = binder.load(WeightStorage::read, {});
  const std::span<const std::byte> a = files.content("a.weight");
  CHECK((upper.rows == 2 && same(upper.bytes, a.first(2 * 68))));
  CHECK((lower.rows == 3 && same(lower.bytes, a.subspan(2 * 68))));
  const std::span<const std::byte> b = files.content("b.weight");
  CHECK(same(std::as_bytes(std::span(head)), b.first(2 * sizeof(float))));
  CHECK(same(std::as_bytes(std::span(tail)), b.subspan(2 * sizeof(float))));
}

TEST_CASE("A number that must be negative and is not is an error that names the tensor", "[models]") {
  Files files;
  files.add("rates", {64});  // of either sign
  const gguf::File file = files.open();
  std::vector<float> rates;
  WeightBinder binder(file);
  binder.negative_vector(rates, "rates", 64);
  binder.check(n_layers);
  const Error error = test::error_of([&] { (void)binder.load(WeightStorage::read, {}); });
  CHECK(error.code() == Errc::bad_tensor);
  CHECK(test::mentions(error, "tensor rates must be negative throughout, but number "));
}

TEST_CASE("Matrices of heads may lie in a third dimension or below each other", "[models]") {
  Files files;
  files.add("a.weight", {32, 3, 4}, TypeId::q8_0);
  files.add("b.weight", {32, 12});
  files.add("c.weight", {32, 3, 5});
  files.add("a_again.weight", {7});
  const gguf::File file = files.open();
  WeightBinder binder(file);
  quant::PackedMatrix a;
  quant::PackedMatrix b;
  binder.head_matrices(a, "a.weight", 4, 3, 32);
  binder.head_matrices(b, "b.weight", 4, 3, 32);
  CHECK(binder.has("a_again.weight"));
  CHECK_FALSE(binder.has("d.weight"));
  binder.ignore("a_again.weight");
  {
    WeightBinder sound = binder;
    sound.ignore("c.weight");
    sound.check(n_layers);
    const ResidentWeights weights = sound.load(WeightStorage::read, {});
    CHECK(a.rows == 12);
    CHECK(b.rows == 12);
    CHECK(same(a.bytes, files.content("a.weight")));
    CHECK(same(b.bytes, files.content("b.weight")));
  }
  quant::PackedMatrix c;
  binder.head_matrices(c, "c.weight", 4, 3, 32);
  CHECK(test::mentions(test::error_of([&] { binder.check(n_layers); }),
                       "tensor c.weight has shape {32, 3, 5}, expected {32, 3, 4}"));
}

TEST_CASE("A tensor with two uses is read once", "[models]") {
  const WeightStorage how = GENERATE(WeightStorage::read, WeightStorage::mmap);
  Files files;
  files.add("token_embd.weight", {8, 10});
  const gguf::File file = files.open();
  quant::PackedMatrix embedding;
  quant::PackedMatrix output;
  WeightBinder binder(file);
  binder.matrix(embedding, "token_embd.weight", 10, 8);
  binder.matrix(output, "token_embd.weight", 10, 8);
  const ResidentWeights weights = binder.load(how, {});
  CHECK(embedding.bytes.data() == output.bytes.data());
  CHECK(weights.bytes() == 8 * 10 * 4);
}

TEST_CASE("Tensors nobody asked for are not read", "[models]") {
  Files files;
  files.add("a.weight", {16, 2});
  files.add("blk.3.large.weight", {1024, 64});
  const gguf::File file = files.open();
  quant::PackedMatrix a;
  WeightBinder binder(file);
  binder.matrix(a, "a.weight", 2, 16);
  binder.check(n_layers);
  CHECK(binder.load(WeightStorage::read, {}).bytes() == 16 * 2 * 4);
}

TEST_CASE("Progress rises to all bytes", "[models]") {
  Files files;
  files.add("a.weight", {16, 2});
  files.add("b.weight", {16});
  const gguf::File file = files.open();
  quant::PackedMatrix a;
  std::vector<float> b;
  WeightBinder binder(file);
  binder.matrix(a, "a.weight", 2, 16);
  binder.vector(b, "b.weight", 16);
  std::vector<Bytes> seen;
  const ResidentWeights weights = binder.load(WeightStorage::read, [&](Bytes done, Bytes total) {
    CHECK(total == 192);
    seen.push_back(done);
  });
  CHECK(seen == std::vector<Bytes>{128, 192});
}

TEST_CASE("Everything that is missing, misshapen or foreign is said in one message", "[models]") {
  Files files;
  files.add("a.weight", {16, 2});
  files.add("b.weight", {16});
  files.add("c.weight", {4, 4, 2});
  files.add("blk.0.attn_q.bias", {4});
  files.add("rope_freqs.weight", {4});
  const gguf::File file = files.open();
  quant::PackedMatrix m;
  std::vector<float> v;
  WeightBinder binder(file);
  binder.matrix(m, "a.weight", 16, 2);  // turned round
  binder.vector(v, "b.weight", 17);
  binder.matrix(m, "c.weight", 4, 4);
  binder.matrix(m, "d.weight", 1, 1);
  binder.vector(v, "e.weight", 1);
  const Error error = test::error_of([&] { binder.check(n_layers); });
  CHECK(error.code() == Errc::bad_tensor);
  CHECK(std::string(error.what()) ==
        "m.gguf: tensor a.weight has shape {16, 2}, expected {2, 16}; tensor b.weight has shape {16}, expected {17}; "
        "tensor c.weight has shape {4, 4, 2}, expected {4, 4}; tensor d.weight is missing; tensor e.weight is missing; "
        "tensor blk.0.attn_q.bias is not part of this architecture; tensor rope_freqs.weight is not part of this "
        "architecture");
}

TEST_CASE("A long list of problems is cut", "[models]") {
  Files files;
  for (int i = 0; i < 45; ++i) files.add("x" + std::to_string(i), {1});
  const gguf::File file = files.open();
  WeightBinder binder(file);
  const Error error = test::error_of([&] { binder.check(n_layers); });
  CHECK(test::mentions(error, "tensor x39 is not"));
  CHECK_FALSE(test::mentions(error, "tensor x40 is not"));
  CHECK(test::mentions(error, "; and 5 more"));
}

TEST_CASE("Blocks after the last that runs may hold anything, others may not", "[models]") {
  const auto refused = [](const std::string& name) {
    Files files;
    files.add(name, {4});
    const gguf::File file = files.open();
    WeightBinder binder(file);
    return test::error_of([&] { binder.check(n_layers); }).code() == Errc::bad_tensor;
  };
  CHECK_FALSE(refused("blk.3.nextn.eh_proj.weight"));
  CHECK_FALSE(refused("blk.3.attn_q.weight"));
  CHECK_FALSE(refused("blk.40.attn_q.weight"));
  CHECK(refused("blk.2.nextn.eh_proj.weight"));
  CHECK(refused("blk.02.attn_q.weight"));
  CHECK(refused("blk..attn_q.weight"));
  CHECK(refused("blk.x3.weight"));
  CHECK(refused("nextn.3.weight"));
}

TEST_CASE("A small matrix may come as a table of floats, or with its columns made contiguous", "[models]") {
  Files files;
  files.add("a.weight", {3, 2}, TypeId::f32);
  const gguf::File file = files.open();
  std::vector<float> rows;
  std::vector<float> columns;
  WeightBinder binder(file);
  binder.table(rows, "a.weight", 2, 3);
  binder.transposed(columns, "a.weight", 2, 3);
  binder.check(n_layers);
  const ResidentWeights weights = binder.load(WeightStorage::read, {});
  CHECK(same(std::as_bytes(std::span(rows)), files.content("a.weight")));
  CHECK(columns == std::vector<float>{rows[0], rows[3], rows[1], rows[4], rows[2], rows[5]});
}

TEST_CASE("The experts of a layer are three tensors, or two with gate and up in one", "[models]") {
  const auto complaint = [](const Files& files) {
    const gguf::File file = files.open();
    WeightBinder binder(file);
    binder.experts("blk.0.", 4, 6, 10);
    const Error error = test::error_of([&] { binder.check(n_layers); });
    return std::string(error.what());
  };
  Files separate;
  separate.add("blk.0.ffn_gate_exps.weight", {10, 6, 4});
  separate.add("blk.0.ffn_up_exps.weight", {10, 6, 4});
  separate.add("blk.0.ffn_down_exps.weight", {6, 10, 4});
  CHECK(complaint(separate) == "nothing was thrown");

  Files fused;
  fused.add("blk.0.ffn_gate_up_exps.weight", {10, 12, 4});
  fused.add("blk.0.ffn_down_exps.weight", {6, 10, 4});
  CHECK(complaint(fused) == "nothing was thrown");

  Files wrong;
  wrong.add("blk.0.ffn_gate_exps.weight", {10, 6, 5});
  wrong.add("blk.0.ffn_down_exps.weight", {10, 6, 4});
  CHECK(complaint(wrong) ==
        "m.gguf: tensor blk.0.ffn_gate_exps.weight has shape {10, 6, 5}, expected {10, 6, 4}; tensor "
        "blk.0.ffn_up_exps.weight is missing; tensor blk.0.ffn_down_exps.weight has shape {10, 6, 4}, expected {6, 10, "
        "4}");

  Files both;
  both.add("blk.0.ffn_gate_up_exps.weight", {10, 12, 4});
  both.add("blk.0.ffn_gate_exps.weight", {10, 6, 4});
  both.add("blk.0.ffn_down_exps.weight", {6, 10, 4});
  CHECK(complaint(both) == "m.gguf: tensor blk.0.ffn_gate_exps.weight is not part of this architecture");
}

TEST_CASE("A file that shrank after it was opened is an error of reading", "[models]") {
  Files files;
  files.add("a.weight", {64, 64});
  const gguf::File file = files.open();
  std::filesystem::resize_file(file.paths().front(), file.shards().front().bytes - 64);
  quant::PackedMatrix a;
  WeightBinder binder(file);
  binder.matrix(a, "a.weight", 64, 64);
  CHECK(test::error_of([&] { (void)binder.load(WeightStorage::read, {}); }).code() == Errc::io);
}

}  // namespace lazymoe::models
