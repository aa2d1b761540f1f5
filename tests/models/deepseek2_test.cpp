#include <cmath>
#include <lazymoe/models/architecture.hpp>
#include <lazymoe/models/deepseek2.hpp>
#include <string>
#include <vector>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file of Moonlight-16B-A3B.
const ConfigKeys moonlight("deepseek2", {{"block_count", u32(27)},
                                         {"context_length", u32(8192)},
                                         {"embedding_length", u32(2048)},
                                         {"feed_forward_length", u32(11264)},
                                         {"attention.head_count", u32(16)},
                                         {"attention.head_count_kv", u32(1)},
                                         {"attention.kv_lora_rank", u32(512)},
                                         {"attention.key_length", u32(576)},
                                         {"attention.value_length", u32(512)},
                                         {"attention.key_length_mla", u32(192)},
                                         {"attention.value_length_mla", u32(128)},
                                         {"attention.layer_norm_rms_epsilon", 1e-5F},
                                         {"rope.dimension_count", u32(64)},
                                         {"rope.freq_base", 50000.0F},
                                         {"leading_dense_block_count", u32(1)},
                                         {"expert_count", u32(64)},
                                         {"expert_used_count", u32(6)},
                                         {"expert_shared_count", u32(2)},
                                         {"expert_feed_forward_length", u32(1408)},
                                         {"expert_weights_scale", 2.446F},
                                         {"expert_weights_norm", true},
                                         {"expert_gating_func", u32(2)},
                                         {"vocab_size", u32(163840)}});

Config read(const ConfigKeys& keys) { return Deepseek2::read_config(keys.metadata()); }

/// The configuration of a file of these keys, with an embedding of `n_vocab` rows and, in its first layer of experts,
/// a selection bias or none.
Config read_file(const ConfigKeys& keys, std::size_t n_vocab, bool bias) {
  const test::TempDir directory;
  gguf::Writer writer;
  for (const auto& key : keys.all()) writer.set(key.first, key.second);
  const std::vector<float> numbers(n_vocab);
  writer.add_tensor("token_embd.weight", {1, n_vocab}, quant::TypeId::f32, std::as_bytes(std::span(numbers)));
  if (bias) {
    writer.add_tensor("blk.1.exp_probs_b.bias", {64}, quant::TypeId::f32, std::as_bytes(std::span(numbers).first(64)));
  }
  writer.write(directory.path() / "m.gguf");
  return read_config<Deepseek2>(gguf::File(directory.path() / "m.gguf"));
}

/// DeepSeek V3's scaling of positions.
ConfigKeys with_yarn(const ConfigKeys& keys) {
  return keys.with("rope.scaling.type", "yarn")
      .with("rope.scaling.factor", 40.0F)
      .with("rope.scaling.original_context_length", u32(4096))
      .with("rope.scaling.yarn_log_multiplier", 0.1F);
}

}  // namespace

TEST_CASE("The published Moonlight file is read as it is", "[models]") {
  const Config c = read(moonlight);
  CHECK(c.n_layers == 27);
  CHECK(c.n_dense_layers == 1);
  CHECK(c.n_ff_dense == 11264);
  CHECK(c.n_heads == 16);
  CHECK(c.key_dim == 192);
  CHECK(c.value_dim == 128);
  CHECK(c.latent.query_rank == 0);
  CHECK(c.latent.rank == 512);
  CHECK(c.n_ff_expert == 1408);
  CHECK(c.n_ff_shared == 2 * 1408);
  CHECK_FALSE(c.shared_gate);
  const auto& rope = c.rope;
  CHECK(rope.n_rot == 64);
  CHECK(rope.base == 50000.0F);
  CHECK(rope.pairs == tensor::RopePairs::norm);
  CHECK(rope.freq_scale == 1.0F);
  CHECK(rope.magnitude == 1.0F);
  const auto& router = c.router;
  CHECK(router.gating == moe::Gating::sigmoid);
  CHECK(router.renormalise);
  CHECK(router.scale == 2.446F);
  CHECK(router.n_groups == 1);
  CHECK(c.score_scale == Approx(1.0 / std::sqrt(192.0)));
}

TEST_CASE("Files from before the split of keys and values give the sizes of heads by the plain keys", "[models]") {
  ConfigKeys keys = moonlight;
  keys = keys.without("attention.key_length_mla");
  keys = keys.without("attention.value_length_mla");
  keys = keys.with("attention.key_length", u32(192));
  keys = keys.with("attention.value_length", u32(128));
  keys = keys.with("attention.head_count_kv", u32(16));
  const Config c = read(keys);
  CHECK(c.key_dim == 192);
  CHECK(c.value_dim == 128);
  CHECK(c.latent.rank == 512);
}

TEST_CASE("A bottleneck of queries is optional, and so are dense layers and a shared expert", "[models]") {
  CHECK(read(moonlight.with("attention.q_lora_rank", u32(768))).latent.query_rank == 768);
  CHECK(read(moonlight.with("attention.q_lora_rank", u32(0))).latent.query_rank == 0);
  ConfigKeys keys = moonlight;
  for (const char* key : {"leading_dense_block_count", "feed_forward_length", "expert_shared_count"}) {
    keys = keys.without(key);
  }
  const Config c = read(keys);
  CHECK(c.n_dense_layers == 0);
  CHECK(c.n_ff_shared == 0);
}

TEST_CASE("Blocks that predict further tokens do not run", "[models]") {
  const ConfigKeys keys = moonlight.with("block_count", u32(48)).with("nextn_predict_layers", u32(1));
  CHECK(read(keys).n_layers == 47);
}

TEST_CASE("Without a key, the scores are sigmoids where a bias chooses or the size is GLM's, else a softmax",
          "[models]") {
  ConfigKeys keys = moonlight;
  keys = keys.without("expert_gating_func");
  const auto gating = [&](std::uint32_t n_layers, std::size_t n_vocab, bool bias) {
    return read_file(keys.with("block_count", u32(n_layers)), n_vocab, bias).router.gating;
  };
  CHECK(gating(27, 102400, false) == moe::Gating::softmax);
  CHECK(gating(27, 102400, true) == moe::Gating::sigmoid);
  CHECK(gating(47, 154880, false) == moe::Gating::sigmoid);
  CHECK(gating(48, 154880, false) == moe::Gating::sigmoid);
  CHECK(gating(46, 154880, false) == moe::Gating::softmax);
  CHECK(gating(47, 154881, false) == moe::Gating::softmax);
}

TEST_CASE("What the file says of the scores stands, whatever its tensors are", "[models]") {
  const ConfigKeys keys = moonlight.with("expert_gating_func", u32(1)).with("block_count", u32(47));
  const Config c = read_file(keys, 154880, true);
  CHECK(c.router.gating == moe::Gating::softmax);
  CHECK(c.selection_bias);
  CHECK_FALSE(read_file(keys, 100, false).selection_bias);
}

TEST_CASE("Groups of experts are read, and one group is none", "[models]") {
  const auto groups = [](std::uint32_t n, std::uint32_t n_used) {
    return read(moonlight.with("expert_group_count", u32(n)).with("expert_group_used_count", u32(n_used))).router;
  };
  const moe::TopKRouter router = groups(8, 4);
  CHECK(router.n_groups == 8);
  CHECK(router.n_groups_used == 4);
  CHECK(groups(1, 1).n_groups == 1);
  CHECK(groups(0, 0).n_groups == 1);
}

TEST_CASE("YaRN of the family warms up whole scores and leaves the turned part its length", "[models]") {
  const Config c = read(with_yarn(moonlight));
  CHECK(c.rope.freq_scale == 1.0F / 40.0F);
  CHECK(c.rope.magnitude == Approx(1.0).epsilon(1e-6));
  CHECK(c.rope.yarn.n_ctx_train == 4096.0F);
  const double temperature = 1.0 + 0.1 * std::log(40.0);
  CHECK(c.score_scale == Approx(temperature * temperature / std::sqrt(192.0)));
}

TEST_CASE("The share of the temperature that V2 has is read, and a missing one is none", "[models]") {
  ConfigKeys keys = with_yarn(moonlight).with("rope.scaling.yarn_log_multiplier", 0.0707F);
  const double temperature = 1.0 + 0.1 * 0.707 * std::log(40.0);
  CHECK(read(keys).score_scale == Approx(temperature * temperature / std::sqrt(192.0)));
  CHECK(read(keys).rope.magnitude == Approx(1.0).epsilon(1e-6));
  keys = keys.without("rope.scaling.yarn_log_multiplier");
  const Config c = read(keys);
  CHECK(c.rope.magnitude == Approx(1.0 + 0.1 * std::log(40.0)));
  CHECK(c.score_scale == Approx(std::pow(1.0 + 0.1 * std::log(40.0), 2.0) / std::sqrt(192.0)));
}

TEST_CASE("Sizes that do not fit together are refused by their key", "[models]") {
  const auto refuses = [](const ConfigKeys& keys, const std::string& key) {
    const Error error = test::error_of([&] { (void)read(keys); });
    CAPTURE(error.what());
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "key 'deepseek2." + key + "'"));
  };
  refuses(moonlight.with("rope.dimension_count", u32(192)), "rope.dimension_count");
  refuses(moonlight.with("leading_dense_block_count", u32(28)), "leading_dense_block_count");
  refuses(moonlight.with("expert_shared_count", u32(65)), "expert_shared_count");
  refuses(moonlight.with("expert_gating_func", u32(4)), "expert_gating_func");
  refuses(moonlight.with("expert_group_count", u32(7)), "expert_group_count");
  refuses(moonlight.with("expert_group_count", u32(8)), "expert_group_used_count");
  refuses(moonlight.with("expert_group_count", u32(32)).with("expert_group_used_count", u32(2)),
          "expert_group_used_count");
  refuses(with_yarn(moonlight).with("rope.scaling.yarn_log_multiplier", 1e30F), "rope.scaling.yarn_log_multiplier");
  ConfigKeys keys = moonlight;
  keys = keys.without("attention.kv_lora_rank");
  refuses(keys, "attention.kv_lora_rank");
}

}  // namespace lazymoe::models
