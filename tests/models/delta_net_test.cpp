#include <lazymoe/models/delta_net.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "models/in_batches.hpp"
#include "reference/delta_net.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

using quant::TypeId;

/// One layer of random float weights, bound from a file.
class Fixture {
 public:
  explicit Fixture(const Config& c, bool fused = false) : config(c), file_(write(c, fused)) {
    const DeltaNetShape& shape = c.delta_net;
    WeightBinder binder(file_);
    layer.bind(binder, c, 0);
    const auto matrix = [&](quant::PackedMatrix& to, const char* name, std::size_t rows, std::size_t cols) {
      binder.matrix(to, std::string("blk.0.") + name + ".weight", rows, cols);
    };
    matrix(reference.projection, "attn_qkv", shape.channels(), c.n_embd);
    matrix(reference.gate, "attn_gate", shape.value_width(), c.n_embd);
    matrix(reference.output, "ssm_out", c.n_embd, shape.value_width());
    if (!fused) {
      matrix(reference.alpha, "ssm_alpha", shape.n_value_heads, c.n_embd);
      matrix(reference.beta, "ssm_beta", shape.n_value_heads, c.n_embd);
    }
    std::vector<float> taps;
    std::vector<float> bias;
    std::vector<float> rate;
    std::vector<float> norm;
    binder.table(taps, "blk.0.ssm_conv1d.weight", shape.channels(), shape.n_taps);
    binder.vector(bias, "blk.0.ssm_dt.bias", shape.n_value_heads);
    binder.vector(rate, "blk.0.ssm_a", shape.n_value_heads);
    binder.vector(norm, "blk.0.ssm_norm.weight", shape.head_dim);
    binder.check(1);
    weights_ = binder.load(WeightStorage::read, {});
    for (std::size_t i = 0; i < shape.channels(); ++i) {
      reference.taps.push_back(reference::to_double(std::span(taps).subspan(i * shape.n_taps, shape.n_taps)));
    }
    reference.time_bias = reference::to_double(bias);
    reference.rate = reference::to_double(rate);
    reference.norm = reference::to_double(norm);
  }

  /// Runs x in batches of `n_batch` tokens from an empty state on.
  [[nodiscard]] tensor::Matrix run(const tensor::Matrix& x, std::size_t n_batch, Recurrence recurrence,
                                   unsigned threads = 1) const {
    return test::run_in_batches(layer, config, x, n_batch, {.recurrence = recurrence}, threads);
  }

  Config config;
  DeltaNet layer;
  reference::DeltaNetWeights reference;

 private:
  [[nodiscard]] gguf::File write(const Config& c, bool fused) const {
    const DeltaNetShape& shape = c.delta_net;
    gguf::Writer writer;
    writer.set("general.architecture", "some");
    test::Noise noise(6);
    const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& dims, float factor, float mean) {
      auto x = noise.values(static_cast<std::size_t>(dims[0] * (dims.size() > 1 ? dims[1] : 1)), factor);
      for (float& v : x) v += mean;
      writer.add_tensor("blk.0." + name, dims, TypeId::f32, std::as_bytes(std::span(x)));
      return x;
    };
    add("attn_qkv.weight", {c.n_embd, shape.channels()}, 1.0F, 0.0F);
    add("attn_gate.weight", {c.n_embd, shape.value_width()}, 1.0F, 0.0F);
    add("ssm_conv1d.weight", {shape.n_taps, shape.channels()}, 1.0F, 0.0F);
    add("ssm_dt.bias", {shape.n_value_heads}, 1.0F, -1.0F);
    add("ssm_a", {shape.n_value_heads}, 0.2F, -0.3F);
    add("ssm_norm.weight", {shape.head_dim}, 0.5F, 1.5F);
    add("ssm_out.weight", {shape.value_width(), c.n_embd}, 1.0F, 0.0F);
    const std::size_t heads = shape.n_value_heads;
    auto alpha = noise.values(heads * c.n_embd);
    auto beta = noise.values(heads * c.n_embd);
    const auto put = [&](const std::string& name, std::size_t rows, const std::vector<float>& x) {
      writer.add_tensor("blk.0." + name, {c.n_embd, rows}, TypeId::f32, std::as_bytes(std::span(x)));
    };
    if (!fused) {
      put("ssm_alpha.weight", heads, alpha);
      put("ssm_beta.weight", heads, beta);
    } else {
      // Of each key head the rows of beta, then those of alpha.
      const auto group = static_cast<std::ptrdiff_t>(heads / shape.n_key_heads * c.n_embd);
      std::vector<float> both;
      for (std::ptrdiff_t at = 0; at < static_cast<std::ptrdiff_t>(alpha.size()); at += group) {
        both.insert(both.end(), beta.begin() + at, beta.begin() + at + group);
        both.insert(both.end(), alpha.begin() + at, alpha.begin() + at + group);
      }
      put("ssm_ba.weight", 2 * heads, both);
    }
    writer.write(directory_.path() / "a.gguf");
    return gguf::File(directory_.path() / "a.gguf");
  }

  test::TempDir directory_;
  gguf::File file_;
  ResidentWeights weights_;
};

Config config(DeltaNetShape shape) {
  Config c;
  c.n_layers = 1;
  c.n_embd = 20;
  c.rms_epsilon = 1e-6F;
  c.rope = {.n_rot = 2};  // not used
  c.recurrent = {true};
  c.delta_net = shape;
  return c;
}

tensor::Matrix inputs(std::size_t n_tokens) {
  test::Noise noise(7);
  tensor::Matrix x(static_cast<Eigen::Index>(n_tokens), 20);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = noise.value();
  return x;
}

constexpr DeltaNetShape usual{.n_key_heads = 2, .n_value_heads = 4, .head_dim = 16, .n_taps = 4};

}  // namespace

TEST_CASE("Gated DeltaNet follows the formula in both forms", "[models]") {
  const auto x = inputs(37);  // two chunks and a bit
  std::vector<reference::Vector> rows;
  for (std::size_t t = 0; t < 37; ++t) rows.push_back(reference::to_double(tensor::row(tensor::ConstRows(x), t)));
  DeltaNetShape grouped = usual;
  grouped.grouped = true;
  for (const DeltaNetShape& shape :
       {usual, grouped, DeltaNetShape{.n_key_heads = 3, .n_value_heads = 3, .head_dim = 16, .n_taps = 2},
        DeltaNetShape{.n_key_heads = 1, .n_value_heads = 3, .head_dim = 32, .n_taps = 1}}) {
    const Fixture fixture(config(shape));
    const auto expected = reference::delta_net(fixture.reference, fixture.config, rows);
    for (const Recurrence recurrence : {Recurrence::step, Recurrence::chunked}) {
      const tensor::Matrix out = fixture.run(x, 5, recurrence);
      for (std::size_t t = 0; t < rows.size(); ++t) {
        CAPTURE(shape.n_key_heads, shape.grouped, recurrence == Recurrence::step, t);
        CHECK(reference::difference(tensor::row(tensor::ConstRows(out), t), expected[t]) < 5e-5);
      }
    }
  }
}

TEST_CASE("Neither batches nor threads change a bit of either form of DeltaNet", "[models]") {
  const Recurrence recurrence = GENERATE(Recurrence::step, Recurrence::chunked);
  const Fixture fixture(config(usual));
  const auto x = inputs(70);
  const tensor::Matrix expected = fixture.run(x, 1, recurrence);
  for (const std::size_t n_batch : {2U, 3U, 7U, 32U, 70U}) {
    for (const unsigned threads : {1U, 2U, 4U}) {
      CAPTURE(n_batch, threads);
      CHECK(fixture.run(x, n_batch, recurrence, threads) == expected);
    }
  }
}

TEST_CASE("Alpha and beta in one tensor give the bits of two tensors", "[models]") {
  DeltaNetShape grouped = usual;
  grouped.grouped = true;
  const auto x = inputs(20);
  CHECK(Fixture(config(grouped), true).run(x, 20, Recurrence::step) ==
        Fixture(config(grouped), false).run(x, 20, Recurrence::step));
}

}  // namespace lazymoe::models
