#include <lazymoe/models/attention_gqa.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/in_batches.hpp"
#include "reference/attention_gqa.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

using quant::TypeId;

/// One attention of random float weights, bound from a file.
class Fixture {
 public:
  explicit Fixture(const Config& c, bool fused = false) : config(c), file_(write(c, fused)) {
    WeightBinder binder(file_);
    attention.bind(binder, c, 0);
    if (fused) {
      binder.check(1);
      weights_ = binder.load(WeightStorage::read, {});
      return;
    }
    const auto matrix = [&](quant::PackedMatrix& to, const char* name, std::size_t rows, std::size_t cols) {
      binder.matrix(to, std::string("blk.0.attn_") + name + ".weight", rows, cols);
    };
    matrix(reference.query, "q", c.n_heads * c.key_dim * (c.attention_gate ? 2 : 1), c.n_embd);
    matrix(reference.key, "k", c.n_kv_heads * c.key_dim, c.n_embd);
    matrix(reference.value, "v", c.n_kv_heads * c.value_dim, c.n_embd);
    matrix(reference.output, "output", c.n_embd, c.n_heads * c.value_dim);
    std::vector<std::vector<float>> values(7);
    const std::pair<const char*, reference::Vector*> vectors[] = {
        {"q_norm.weight", &reference.query_norm}, {"k_norm.weight", &reference.key_norm},
        {"q.bias", &reference.query_bias},        {"k.bias", &reference.key_bias},
        {"v.bias", &reference.value_bias},        {"output.bias", &reference.output_bias},
        {"sinks.weight", &reference.sinks}};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::string name = std::string("blk.0.attn_") + vectors[i].first;
      if (const auto* info = file_.find(name)) binder.vector(values[i], name, static_cast<std::size_t>(info->dims[0]));
    }
    binder.check(1);
    weights_ = binder.load(WeightStorage::read, {});
    for (std::size_t i = 0; i < values.size(); ++i) *vectors[i].second = reference::to_double(values[i]);
  }

  /// Runs x in batches of `n_batch` tokens from an empty cache on.
  [[nodiscard]] tensor::Matrix run(const tensor::Matrix& x, std::size_t n_batch, KvType type,
                                   unsigned threads = 1) const {
    return test::run_in_batches(attention, config, x, n_batch, {.kv_type = type}, threads);
  }

  Config config;
  GqaAttention attention;
  reference::GqaWeights reference;

 private:
  [[nodiscard]] gguf::File write(const Config& c, bool fused) const {
    gguf::Writer writer;
    writer.set("general.architecture", "some");
    test::Noise noise(6);
    const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& dims, float factor, float mean) {
      auto x = noise.values(static_cast<std::size_t>(dims[0] * (dims.size() > 1 ? dims[1] : 1)), factor);
      for (float& v : x) v += mean;
      writer.add_tensor("blk.0.attn_" + name, dims, TypeId::f32, std::as_bytes(std::span(x)));
    };
    const auto put = [&](const std::string& name, std::size_t cols, std::size_t n_rows, const std::vector<float>& x) {
      std::vector<std::uint64_t> dims{n_rows};
      if (cols != 0) dims = {cols, n_rows};
      writer.add_tensor("blk.0.attn_" + name, dims, TypeId::f32, std::as_bytes(std::span(x)));
    };
    const std::size_t rows[] = {c.n_heads * c.key_dim * (c.attention_gate ? 2 : 1), c.n_kv_heads * c.key_dim,
                                c.n_kv_heads * c.value_dim};
    /// Three tensors of `cols` columns, 0 for a vector; or one of all their rows.
    const auto add_three = [&](const std::string& suffix, std::size_t cols) {
      std::vector<float> all;
      for (std::size_t i = 0; i < 3; ++i) {
        const auto x = noise.values(rows[i] * std::max<std::size_t>(cols, 1));
        all.insert(all.end(), x.begin(), x.end());
        if (!fused) put(std::string(1, "qkv"[i]) + suffix, cols, rows[i], x);
      }
      if (fused) put("qkv" + suffix, cols, rows[0] + rows[1] + rows[2], all);
    };
    add_three(".weight", c.n_embd);
    add("output.weight", {c.n_heads * c.value_dim, c.n_embd}, 1.0F, 0.0F);
    if (c.head_norm == HeadNorm::heads) {
      add("q_norm.weight", {c.key_dim}, 0.5F, 1.5F);
      add("k_norm.weight", {c.key_dim}, 0.5F, 1.5F);
    }
    if (c.attention_biases != AttentionBiases::none) {
      add_three(".bias", 0);
    }
    if (c.attention_biases == AttentionBiases::all) add("output.bias", {c.n_embd}, 1.0F, 0.0F);
    if (c.attention_sinks) add("sinks.weight", {c.n_heads}, 2.0F, 1.0F);
    writer.write(directory_.path() / "a.gguf");
    return gguf::File(directory_.path() / "a.gguf");
  }

  test::TempDir directory_;
  gguf::File file_;
  ResidentWeights weights_;
};

Config config(std::size_t n_heads, std::size_t n_kv_heads, std::size_t key_dim, std::size_t value_dim) {
  Config c;
  c.n_layers = 1;
  c.n_embd = 20;
  c.n_heads = n_heads;
  c.n_kv_heads = n_kv_heads;
  c.key_dim = key_dim;
  c.value_dim = value_dim;
  c.rope = {.n_rot = key_dim, .pairs = tensor::RopePairs::neox};
  c.head_norm = HeadNorm::heads;
  c.rms_epsilon = 1e-6F;
  return c;
}

tensor::Matrix inputs(std::size_t n_tokens) {
  test::Noise noise(7);
  tensor::Matrix x(static_cast<Eigen::Index>(n_tokens), 20);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = noise.value();
  return x;
}

/// The largest difference from the reference over all tokens.
double error(const Fixture& fixture, const tensor::Matrix& x, KvType type) {
  std::vector<reference::Vector> rows;
  for (std::size_t t = 0; t < static_cast<std::size_t>(x.rows()); ++t) {
    rows.push_back(reference::to_double(tensor::row(x, t)));
  }
  const auto expected = reference::attention_gqa(fixture.reference, fixture.config, rows);
  const tensor::Matrix out = fixture.run(x, 4, type);
  double largest = 0.0;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    largest = std::max(largest, reference::difference(tensor::row(out, t), expected[t]));
  }
  return largest;
}

}  // namespace

TEST_CASE("Attention of grouped queries follows the formula", "[models]") {
  // Past 8 and 16 positions: the partial sums have all been used, and more than once.
  const auto x = inputs(19);
  for (const Config& c : {config(4, 2, 16, 16), config(4, 4, 8, 8), config(6, 1, 16, 16), config(4, 2, 16, 24),
                          config(3, 1, 10, 6), config(1, 1, 2, 1)}) {
    CAPTURE(c.n_heads, c.n_kv_heads, c.key_dim, c.value_dim);
    const Fixture fixture(c);
    CHECK(error(fixture, x, KvType::f32) < 2e-5);
    CHECK(error(fixture, x, KvType::f16) < 1e-2);
  }
}

TEST_CASE("Attention with biases, sinks, a window or a scale of its own follows the formula", "[models]") {
  const auto x = inputs(19);
  Config c = config(4, 2, 16, 16);
  c.head_norm = GENERATE(HeadNorm::none, HeadNorm::heads_if_present);  // without weights both mean: none
  c.attention_biases = GENERATE(AttentionBiases::inputs, AttentionBiases::all);
  c.attention_sinks = GENERATE(false, true);
  c.window = GENERATE(0U, 1U, 5U, 8U, 30U);
  c.score_scale = GENERATE(0.0F, 0.1F);
  CAPTURE(c.head_norm, c.attention_biases, c.attention_sinks, c.window, c.score_scale);
  const Fixture fixture(c);
  CHECK(error(fixture, x, KvType::f32) < 2e-5);
}

TEST_CASE("Attention with positions turned by half the head or less follows the formula", "[models]") {
  Config c = config(4, 2, 16, 16);
  c.rope.n_rot = 8;
  c.rope.base = 1e6F;
  CHECK(error(Fixture(c), inputs(12), KvType::f32) < 2e-5);
}

TEST_CASE("A head's output may be gated by what stands beside its query", "[models]") {
  Config c = config(4, 2, 16, 16);
  c.rope.n_rot = 4;
  c.attention_gate = true;
  CHECK(error(Fixture(c), inputs(12), KvType::f32) < 2e-5);
}

TEST_CASE("Neither batches nor threads change a bit of attention", "[models]") {
  const KvType type = GENERATE(KvType::f16, KvType::f32);
  Config c = config(6, 2, 16, 16);
  c.attention_gate = GENERATE(false, true);
  const Fixture fixture(c);
  const auto x = inputs(21);
  const tensor::Matrix expected = fixture.run(x, 1, type);
  for (const std::size_t n_batch : {2U, 7U, 21U}) {
    for (const unsigned threads : {1U, 2U, 4U}) {
      CAPTURE(n_batch, threads);
      CHECK(fixture.run(x, n_batch, type, threads) == expected);
    }
  }
}

TEST_CASE("Attention keeps no keys and values for layers that are recurrent", "[models]") {
  Config c = config(6, 2, 16, 24);
  c.n_layers = 4;
  c.recurrent = {true, false, true, true};
  CHECK(GqaAttention::new_state(c, {.n_ctx = 100, .kv_type = KvType::f32}).bytes() ==
        100 * (2 * 16 + 2 * 24) * sizeof(float));
}

TEST_CASE("Attention keeps keys and values of all its key heads", "[models]") {
  const KvCache cache = GqaAttention::new_state(config(6, 2, 16, 24), {.n_ctx = 100, .kv_type = KvType::f32});
  CHECK(cache.capacity() == 100);
  CHECK(cache.bytes() == 100 * (2 * 16 + 2 * 24) * sizeof(float));
}

TEST_CASE("Queries, keys and values in one tensor give the bits of three", "[models]") {
  const auto x = inputs(12);
  Config biased = config(4, 2, 16, 24);
  biased.attention_biases = AttentionBiases::inputs;
  Config gated = config(4, 2, 16, 16);
  gated.attention_gate = true;
  for (const Config& c : {config(4, 2, 16, 16), biased, gated}) {
    CAPTURE(c.value_dim, c.attention_gate);
    CHECK(Fixture(c, true).run(x, 5, KvType::f32) == Fixture(c).run(x, 5, KvType::f32));
  }
}

}  // namespace lazymoe::models
