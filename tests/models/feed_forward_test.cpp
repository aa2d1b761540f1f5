#include <lazymoe/models/feed_forward.hpp>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <lazymoe/gguf/writer.hpp>
#include <lazymoe/store/all_resident.hpp>

#include "reference/routed_ffn.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

using quant::TypeId;
using reference::Vector;

Config config() {
  Config c;
  c.n_layers = 2;
  c.n_embd = 24;
  c.n_dense_layers = 1;
  c.n_ff_dense = 40;
  c.n_experts = 4;
  c.n_experts_used = 2;
  c.n_ff_expert = 16;
  c.n_ff_shared = 20;
  return c;
}

/// A dense layer 0 and a layer 1 with experts, from a file.
class Fixture {
 public:
  explicit Fixture(Config c) : config(std::move(c)), file(write(config)), experts(file) {
    WeightBinder binder(file);
    for (LayerIndex i = 0; i < layers.size(); ++i) layers[i].bind(binder, config, i);
    binder.check(config.n_layers);
    weights_ = binder.load(WeightStorage::read, {});
  }

  [[nodiscard]] tensor::Matrix run(LayerIndex layer, const tensor::Matrix& x, unsigned threads = 1) {
    parallel::ThreadPool pool(threads);
    FeedForwardScratch scratch;
    tensor::Matrix out(x.rows(), x.cols());
    layers[layer].run(layer, config, x, 0, experts, scratch, pool, [] {}, out);
    return out;
  }

  /// A tensor's values as a matrix of `rows`, from `first` on.
  [[nodiscard]] Vector multiply(const std::string& name, const Vector& x, std::size_t expert = 0) const {
    const std::vector<float>& w = values_.at(name);
    const std::size_t rows = name.find("down") != std::string::npos                ? config.n_embd
                             : name.find("exps") != std::string::npos              ? config.n_ff_expert
                             : name.find("gate_inp_shexp") != std::string::npos    ? 1
                             : name.find("gate_inp") != std::string::npos          ? config.n_experts
                             : name.find("shexp") != std::string::npos             ? config.n_ff_shared
                                                                                   : config.n_ff_dense;
    Vector y(rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        y[r] += static_cast<double>(w[(expert * rows + r) * x.size() + i]) * x[i];
      }
    }
    return y;
  }

  [[nodiscard]] Vector swiglu(const std::string& prefix, const std::string& suffix, const Vector& x,
                              std::size_t expert = 0) const {
    Vector hidden = multiply(prefix + "gate" + suffix, x, expert);
    const Vector up = multiply(prefix + "up" + suffix, x, expert);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= up[i] / (1.0 + std::exp(-hidden[i]));
    return multiply(prefix + "down" + suffix, hidden, expert);
  }

  [[nodiscard]] const std::vector<float>& values(const std::string& name) const { return values_.at(name); }

  Config config;

 private:
  // What write() fills stands before what it makes.
  test::TempDir directory_;
  std::map<std::string, std::vector<float>> values_;

 public:
  gguf::File file;
  store::AllResident<> experts;
  std::vector<FeedForward> layers{2};

 private:
  [[nodiscard]] gguf::File write(const Config& c) {
    gguf::Writer writer;
    writer.set("general.architecture", "some");
    writer.set("some.block_count", std::uint32_t{2});
    writer.set("some.expert_count", static_cast<std::uint32_t>(c.n_experts));
    writer.set("some.expert_used_count", static_cast<std::uint32_t>(c.n_experts_used));
    test::Noise noise(8);
    const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& dims) {
      std::size_t n = 1;
      for (const auto d : dims) n *= static_cast<std::size_t>(d);
      values_[name] = noise.values(n);
      writer.add_tensor(name, dims, TypeId::f32, std::as_bytes(std::span(values_[name])));
    };
    const auto ffn = [&](const std::string& prefix, const std::string& suffix, std::size_t n_ff) {
      add(prefix + "gate" + suffix, {c.n_embd, n_ff});
      add(prefix + "up" + suffix, {c.n_embd, n_ff});
      add(prefix + "down" + suffix, {n_ff, c.n_embd});
    };
    ffn("blk.0.ffn_", ".weight", c.n_ff_dense);
    add("blk.1.ffn_gate_inp.weight", {c.n_embd, c.n_experts});
    add("blk.1.ffn_gate_exps.weight", {c.n_embd, c.n_ff_expert, c.n_experts});
    add("blk.1.ffn_up_exps.weight", {c.n_embd, c.n_ff_expert, c.n_experts});
    add("blk.1.ffn_down_exps.weight", {c.n_ff_expert, c.n_embd, c.n_experts});
    if (c.n_ff_shared != 0) ffn("blk.1.ffn_", "_shexp.weight", c.n_ff_shared);
    if (c.shared_gate) add("blk.1.ffn_gate_inp_shexp.weight", {c.n_embd});
    if (c.selection_bias) add("blk.1.exp_probs_b.bias", {c.n_experts});
    writer.write(directory_.path() / "a.gguf");
    return gguf::File(directory_.path() / "a.gguf");
  }

  ResidentWeights weights_;
};

tensor::Matrix inputs(std::size_t n_tokens) {
  test::Noise noise(7);
  tensor::Matrix x(static_cast<Eigen::Index>(n_tokens), 24);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = noise.value();
  return x;
}

}  // namespace

TEST_CASE("A leading layer is dense", "[models]") {
  Fixture f(config());
  const tensor::Matrix x = inputs(3);
  const tensor::Matrix out = f.run(0, x);
  for (std::size_t t = 0; t < 3; ++t) {
    const Vector expected = f.swiglu("blk.0.ffn_", ".weight", reference::to_double(tensor::row(tensor::ConstRows(x), t)));
    CHECK(reference::difference(tensor::row(tensor::ConstRows(out), t), expected) < 1e-4);
  }
}

TEST_CASE("Other layers add what the chosen experts and the shared one say", "[models]") {
  Config c = config();
  c.shared_gate = GENERATE(false, true);
  c.selection_bias = GENERATE(false, true);
  c.n_ff_shared = GENERATE(0U, 20U);
  if (c.n_ff_shared == 0) c.shared_gate = false;
  CAPTURE(c.shared_gate, c.selection_bias, c.n_ff_shared);
  Fixture f(c);
  const tensor::Matrix x = inputs(6);
  const tensor::Matrix out = f.run(1, x);
  for (std::size_t t = 0; t < 6; ++t) {
    const Vector input = reference::to_double(tensor::row(tensor::ConstRows(x), t));
    Vector logits = f.multiply("blk.1.ffn_gate_inp.weight", input);
    std::vector<float> scores(logits.begin(), logits.end());
    std::vector<ExpertIndex> chosen(2);
    std::vector<float> weights(2);
    c.router.route(scores, c.selection_bias ? f.values("blk.1.exp_probs_b.bias") : std::vector<float>{}, chosen, weights);
    Vector expected(24, 0.0);
    const auto add = [&](double weight, const Vector& y) {
      for (std::size_t i = 0; i < y.size(); ++i) expected[i] += weight * y[i];
    };
    for (std::size_t j = 0; j < 2; ++j) {
      add(static_cast<double>(weights[j]), f.swiglu("blk.1.ffn_", "_exps.weight", input, chosen[j]));
    }
    if (c.n_ff_shared != 0) {
      const double gate = c.shared_gate ? f.multiply("blk.1.ffn_gate_inp_shexp.weight", input)[0] : 0.0;
      add(c.shared_gate ? 1.0 / (1.0 + std::exp(-gate)) : 1.0, f.swiglu("blk.1.ffn_", "_shexp.weight", input));
    }
    CHECK(reference::difference(tensor::row(tensor::ConstRows(out), t), expected) < 1e-4);
  }
}

TEST_CASE("Neither threads nor the batch change a bit of a feed-forward", "[models]") {
  Fixture f(config());
  const tensor::Matrix x = inputs(8);
  for (const LayerIndex layer : {0U, 1U}) {
    const tensor::Matrix expected = f.run(layer, x);
    CHECK(f.run(layer, x, 3) == expected);
    for (Eigen::Index t = 0; t < x.rows(); ++t) CHECK(f.run(layer, x.middleRows(t, 1)) == expected.middleRows(t, 1));
  }
}

}  // namespace lazymoe::models
