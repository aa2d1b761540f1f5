#include "models/in_batches.hpp"
#include "reference/attention_mla.hpp"

#include <algorithm>
#include <lazymoe/models/attention_mla.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

using quant::TypeId;

/// How a file holds keys and values of heads.
enum class Layout { split, folded, unsplit, both };

/// One attention of random weights, bound from a file; and the same weights for the reference.
class Fixture {
 public:
  Fixture(const Config& c, Layout layout, TypeId type = TypeId::f32) : config(c), file_(write(c, layout, type)) {
    WeightBinder binder(file_);
    attention.bind(binder, c, 0);
    binder.check(1);
    weights_ = binder.load(WeightStorage::read, {});

    WeightBinder other(*reference_file_);
    const auto name = [](const char* part) { return std::string("blk.0.attn_") + part + ".weight"; };
    if (c.latent.query_rank != 0) {
      other.matrix(reference.query_down, name("q_a"), c.latent.query_rank, c.n_embd);
      other.vector(query_norm_, name("q_a_norm"), c.latent.query_rank);
      other.matrix(reference.query, name("q_b"), c.n_heads * c.key_dim, c.latent.query_rank);
    } else {
      other.matrix(reference.query, name("q"), c.n_heads * c.key_dim, c.n_embd);
    }
    other.matrix(reference.latent, name("kv_a_mqa"), c.latent.rank + c.rope.n_rot, c.n_embd);
    other.vector(latent_norm_, name("kv_a_norm"), c.latent.rank);
    other.matrix(reference.key_value, name("kv_b"), c.n_heads * (c.key_dim - c.rope.n_rot + c.value_dim),
                 c.latent.rank);
    other.matrix(reference.output, name("output"), c.n_embd, c.n_heads * c.value_dim);
    other.check(1);
    reference_weights_ = other.load(WeightStorage::read, {});
    reference.query_norm = reference::to_double(query_norm_);
    reference.latent_norm = reference::to_double(latent_norm_);
  }

  /// Runs x in batches of `n_batch` tokens from an empty cache on.
  [[nodiscard]] tensor::Matrix run(const tensor::Matrix& x, std::size_t n_batch, KvType type,
                                   unsigned threads = 1) const {
    return test::run_in_batches(attention, config, x, n_batch, {.kv_type = type}, threads);
  }

  Config config;
  MlaAttention attention;
  reference::MlaWeights reference;

 private:
  /// Writes the weights in `layout`, and for the reference in the old one, as floats.
  [[nodiscard]] gguf::File write(const Config& c, Layout layout, TypeId type) {
    gguf::Writer writer;
    gguf::Writer plain;
    writer.set("general.architecture", "some");
    plain.set("general.architecture", "some");
    test::Noise noise(8);
    const auto name = [](const std::string& part) { return "blk.0.attn_" + part + ".weight"; };
    const auto add_to = [&](gguf::Writer& to, const std::string& part, const std::vector<std::uint64_t>& dims,
                            const std::vector<float>& x,
                            TypeId as) { to.add_tensor(name(part), dims, as, test::TinyMoe::packed(x, as)); };
    const auto add = [&](const std::string& part, const std::vector<std::uint64_t>& dims, float mean, TypeId as) {
      const std::size_t n = dims[0] * (dims.size() > 1 ? dims[1] : 1);
      auto x = noise.values(n, dims.size() > 1 ? 1.0F : 0.5F);
      for (float& v : x) v += mean;
      add_to(writer, part, dims, x, as);
      add_to(plain, part, dims, x, TypeId::f32);
    };
    const std::size_t rank = c.latent.rank;
    const std::size_t n_keys = c.key_dim - c.rope.n_rot;
    if (c.latent.query_rank != 0) {
      add("q_a", {c.n_embd, c.latent.query_rank}, 0.0F, TypeId::f32);
      add("q_a_norm", {c.latent.query_rank}, 1.5F, TypeId::f32);
      add("q_b", {c.latent.query_rank, c.n_heads * c.key_dim}, 0.0F, TypeId::f32);
    } else {
      add("q", {c.n_embd, c.n_heads * c.key_dim}, 0.0F, TypeId::f32);
    }
    add("kv_a_mqa", {c.n_embd, rank + c.rope.n_rot}, 0.0F, TypeId::f32);
    add("kv_a_norm", {rank}, 1.5F, TypeId::f32);
    add("output", {c.n_heads * c.value_dim, c.n_embd}, 0.0F, TypeId::f32);

    const auto both = noise.values(c.n_heads * (n_keys + c.value_dim) * rank, 0.5F);
    const std::vector<std::uint64_t> both_dims{rank, c.n_heads * (n_keys + c.value_dim)};
    add_to(plain, "kv_b", both_dims, both, TypeId::f32);
    if (layout != Layout::split && layout != Layout::folded) add_to(writer, "kv_b", both_dims, both, type);
    if (layout != Layout::unsplit) {
      std::vector<float> keys;    // [n_heads, rank, n_keys]
      std::vector<float> values;  // [n_heads, value_dim, rank]
      for (std::size_t h = 0; h < c.n_heads; ++h) {
        const float* head = both.data() + h * (n_keys + c.value_dim) * rank;
        for (std::size_t l = 0; l < rank; ++l) {
          for (std::size_t i = 0; i < n_keys; ++i) keys.push_back(head[i * rank + l]);
        }
        values.insert(values.end(), head + n_keys * rank, head + (n_keys + c.value_dim) * rank);
      }
      const bool folded = layout != Layout::split;
      using Dims = std::vector<std::uint64_t>;
      add_to(writer, "k_b", folded ? Dims{n_keys, rank * c.n_heads} : Dims{n_keys, rank, c.n_heads}, keys, type);
      add_to(writer, "v_b", folded ? Dims{rank, c.value_dim * c.n_heads} : Dims{rank, c.value_dim, c.n_heads}, values,
             type);
    }
    plain.write(directory_.path() / "reference.gguf");
    reference_file_.emplace(directory_.path() / "reference.gguf");
    writer.write(directory_.path() / "a.gguf");
    return gguf::File(directory_.path() / "a.gguf");
  }

  test::TempDir directory_;
  std::optional<gguf::File> reference_file_;  // before file_, whose writing makes it
  gguf::File file_;
  ResidentWeights weights_;
  ResidentWeights reference_weights_;
  std::vector<float> query_norm_;
  std::vector<float> latent_norm_;
};

Config config(std::size_t n_heads, std::size_t query_rank, std::size_t rank, std::size_t n_keys, std::size_t n_rot,
              std::size_t value_dim) {
  Config c;
  c.n_layers = 1;
  c.n_embd = 20;
  c.n_heads = n_heads;
  c.n_kv_heads = 1;
  c.key_dim = n_keys + n_rot;
  c.value_dim = value_dim;
  c.rope = {.n_rot = n_rot, .pairs = tensor::RopePairs::norm};
  c.latent = {.query_rank = query_rank, .rank = rank};
  c.rms_epsilon = 1e-6F;
  return c;
}

tensor::Matrix inputs(std::size_t n_tokens) {
  test::Noise noise(7);
  tensor::Matrix x(static_cast<Eigen::Index>(n_tokens), 20);
  for (Eigen::Index i = 0; i < x.size(); ++i) x.data()[i] = 0.3F * noise.value();
  return x;
}

/// The largest difference from the reference over all tokens.
double error(const Fixture& fixture, const tensor::Matrix& x, KvType type) {
  std::vector<reference::Vector> rows;
  for (std::size_t t = 0; t < static_cast<std::size_t>(x.rows()); ++t) {
    rows.push_back(reference::to_double(tensor::row(x, t)));
  }
  const auto expected = reference::attention_mla(fixture.reference, fixture.config, rows);
  const tensor::Matrix out = fixture.run(x, 4, type);
  double largest = 0.0;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    largest = std::max(largest, reference::difference(tensor::row(out, t), expected[t]));
  }
  return largest;
}

}  // namespace

TEST_CASE("Latent attention follows the formula of whole keys and values, in all layouts of files", "[models]") {
  const Layout layout = GENERATE(Layout::split, Layout::folded, Layout::unsplit, Layout::both);
  // Past 32 positions, which is more than one block, and not a multiple of 8.
  const auto x = inputs(43);
  for (const Config& c : {config(4, 0, 32, 16, 8, 16), config(3, 12, 24, 8, 4, 20), config(1, 5, 6, 3, 2, 9),
                          config(9, 0, 13, 1, 2, 7)}) {
    CAPTURE(c.n_heads, c.latent.query_rank, c.latent.rank, c.key_dim, c.rope.n_rot, c.value_dim);
    const Fixture fixture(c, layout);
    CHECK(error(fixture, x, KvType::f32) < 5e-5);
    CHECK(error(fixture, x, KvType::f16) < 2e-2);
  }
}

TEST_CASE("Latent attention takes the scale of its scores from the configuration", "[models]") {
  Config c = config(4, 0, 32, 16, 8, 16);
  c.score_scale = 0.4F;
  CHECK(error(Fixture(c, Layout::split), inputs(12), KvType::f32) < 5e-5);
}

TEST_CASE("Packed keys and values of heads differ from plain ones by their rounding", "[models]") {
  const Layout layout = GENERATE(Layout::split, Layout::unsplit);
  const Fixture fixture(config(2, 0, 64, 32, 8, 32), layout, TypeId::q8_0);
  const double difference = error(fixture, inputs(20), KvType::f32);
  CHECK(difference < 0.05);
  CHECK(difference > 1e-4);  // or they are not packed
}

TEST_CASE("Neither batches nor threads change a bit of latent attention", "[models]") {
  const KvType type = GENERATE(KvType::f16, KvType::f32);
  const Layout layout = GENERATE(Layout::split, Layout::unsplit);
  const Fixture fixture(config(11, 12, 40, 16, 8, 16), layout);
  const auto x = inputs(41);
  const tensor::Matrix expected = fixture.run(x, 1, type);
  for (const std::size_t n_batch : {2U, 7U, 41U}) {
    for (const unsigned threads : {1U, 2U, 4U}) {
      CAPTURE(n_batch, threads);
      CHECK(fixture.run(x, n_batch, type, threads) == expected);
    }
  }
}

TEST_CASE("Latent attention keeps one vector a token, whatever the number of heads", "[models]") {
  const LatentCache cache = MlaAttention::new_state(config(16, 0, 512, 128, 64, 128), {.n_ctx = 100});
  CHECK(cache.capacity() == 100);
  CHECK(cache.bytes() == 100 * 576 * 2);
}

}  // namespace lazymoe::models
