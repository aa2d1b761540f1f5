#include <cmath>
#include <lazymoe/models/architecture.hpp>
#include <lazymoe/models/deepseek2.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"
#include "support/tiny_moe.hpp"

namespace lazymoe::models {
namespace {

using Keys = std::map<std::string, gguf::Value>;

gguf::Value u32(std::uint32_t value) { return value; }

/// As in the published file of Moonlight-16B-A3B.
Keys moonlight() {
  return {{"general.architecture", "deepseek2"},
          {"deepseek2.block_count", u32(27)},
          {"deepseek2.context_length", u32(8192)},
          {"deepseek2.embedding_length", u32(2048)},
          {"deepseek2.feed_forward_length", u32(11264)},
          {"deepseek2.attention.head_count", u32(16)},
          {"deepseek2.attention.head_count_kv", u32(1)},
          {"deepseek2.attention.kv_lora_rank", u32(512)},
          {"deepseek2.attention.key_length", u32(576)},
          {"deepseek2.attention.value_length", u32(512)},
          {"deepseek2.attention.key_length_mla", u32(192)},
          {"deepseek2.attention.value_length_mla", u32(128)},
          {"deepseek2.attention.layer_norm_rms_epsilon", 1e-5F},
          {"deepseek2.rope.dimension_count", u32(64)},
          {"deepseek2.rope.freq_base", 50000.0F},
          {"deepseek2.leading_dense_block_count", u32(1)},
          {"deepseek2.expert_count", u32(64)},
          {"deepseek2.expert_used_count", u32(6)},
          {"deepseek2.expert_shared_count", u32(2)},
          {"deepseek2.expert_feed_forward_length", u32(1408)},
          {"deepseek2.expert_weights_scale", 2.446F},
          {"deepseek2.expert_weights_norm", true},
          {"deepseek2.expert_gating_func", u32(2)},
          {"deepseek2.vocab_size", u32(163840)}};
}

Keys with(Keys keys, const std::string& key, gguf::Value value) {
  keys.insert_or_assign("deepseek2." + key, std::move(value));
  return keys;
}

Config read(const Keys& keys) {
  gguf::Metadata metadata("m.gguf");
  for (const auto& key : keys) metadata.insert(key.first, key.second);
  return Deepseek2::read_config(metadata);
}

/// The configuration of a file of these keys, with an embedding of `n_vocab` rows and, in its first layer of experts,
/// a selection bias or none.
Config read_file(const Keys& keys, std::size_t n_vocab, bool bias) {
  const test::TempDir directory;
  gguf::Writer writer;
  for (const auto& key : keys) writer.set(key.first, key.second);
  const std::vector<float> numbers(n_vocab);
  writer.add_tensor("token_embd.weight", {1, n_vocab}, quant::TypeId::f32, std::as_bytes(std::span(numbers)));
  if (bias) {
    writer.add_tensor("blk.1.exp_probs_b.bias", {64}, quant::TypeId::f32, std::as_bytes(std::span(numbers).first(64)));
  }
  writer.write(directory.path() / "m.gguf");
  return read_config<Deepseek2>(gguf::File(directory.path() / "m.gguf"));
}

/// DeepSeek V3's scaling of positions.
Keys with_yarn(Keys keys) {
  keys = with(std::move(keys), "rope.scaling.type", "yarn");
  keys = with(std::move(keys), "rope.scaling.factor", 40.0F);
  keys = with(std::move(keys), "rope.scaling.original_context_length", u32(4096));
  return with(std::move(keys), "rope.scaling.yarn_log_multiplier", 0.1F);
}

}  // namespace

TEST_CASE("The published Moonlight file is read as it is", "[models]") {
  const Config c = read(moonlight());
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
  Keys keys = moonlight();
  keys.erase("deepseek2.attention.key_length_mla");
  keys.erase("deepseek2.attention.value_length_mla");
  keys = with(keys, "attention.key_length", u32(192));
  keys = with(keys, "attention.value_length", u32(128));
  keys = with(keys, "attention.head_count_kv", u32(16));
  const Config c = read(keys);
  CHECK(c.key_dim == 192);
  CHECK(c.value_dim == 128);
  CHECK(c.latent.rank == 512);
}

TEST_CASE("A bottleneck of queries is optional, and so are dense layers and a shared expert", "[models]") {
  CHECK(read(with(moonlight(), "attention.q_lora_rank", u32(768))).latent.query_rank == 768);
  CHECK(read(with(moonlight(), "attention.q_lora_rank", u32(0))).latent.query_rank == 0);
  Keys keys = moonlight();
  for (const char* key : {"leading_dense_block_count", "feed_forward_length", "expert_shared_count"}) {
    keys.erase(std::string("deepseek2.") + key);
  }
  const Config c = read(keys);
  CHECK(c.n_dense_layers == 0);
  CHECK(c.n_ff_shared == 0);
}

TEST_CASE("Blocks that predict further tokens do not run", "[models]") {
  const Keys keys = with(with(moonlight(), "block_count", u32(48)), "nextn_predict_layers", u32(1));
  CHECK(read(keys).n_layers == 47);
}

TEST_CASE("Without a key, the scores are sigmoids where a bias chooses or the size is GLM's, else a softmax",
          "[models]") {
  Keys keys = moonlight();
  keys.erase("deepseek2.expert_gating_func");
  const auto gating = [&](std::uint32_t n_layers, std::size_t n_vocab, bool bias) {
    return read_file(with(keys, "block_count", u32(n_layers)), n_vocab, bias).router.gating;
  };
  CHECK(gating(27, 102400, false) == moe::Gating::softmax);
  CHECK(gating(27, 102400, true) == moe::Gating::sigmoid);
  CHECK(gating(47, 154880, false) == moe::Gating::sigmoid);
  CHECK(gating(48, 154880, false) == moe::Gating::sigmoid);
  CHECK(gating(46, 154880, false) == moe::Gating::softmax);
  CHECK(gating(47, 154881, false) == moe::Gating::softmax);
}

TEST_CASE("What the file says of the scores stands, whatever its tensors are", "[models]") {
  const Keys keys = with(with(moonlight(), "expert_gating_func", u32(1)), "block_count", u32(47));
  const Config c = read_file(keys, 154880, true);
  CHECK(c.router.gating == moe::Gating::softmax);
  CHECK(c.selection_bias);
  CHECK_FALSE(read_file(keys, 100, false).selection_bias);
}

TEST_CASE("Groups of experts are read, and one group is none", "[models]") {
  const auto groups = [](std::uint32_t n, std::uint32_t n_used) {
    return read(with(with(moonlight(), "expert_group_count", u32(n)), "expert_group_used_count", u32(n_used))).router;
  };
  const moe::TopKRouter router = groups(8, 4);
  CHECK(router.n_groups == 8);
  CHECK(router.n_groups_used == 4);
  CHECK(groups(1, 1).n_groups == 1);
  CHECK(groups(0, 0).n_groups == 1);
}

TEST_CASE("YaRN of the family warms up whole scores and leaves the turned part its length", "[models]") {
  const Config c = read(with_yarn(moonlight()));
  CHECK(c.rope.freq_scale == 1.0F / 40.0F);
  CHECK(c.rope.magnitude == Approx(1.0).epsilon(1e-6));
  CHECK(c.rope.yarn.n_ctx_train == 4096.0F);
  const double temperature = 1.0 + 0.1 * std::log(40.0);
  CHECK(c.score_scale == Approx(temperature * temperature / std::sqrt(192.0)));
}

TEST_CASE("The share of the temperature that V2 has is read, and a missing one is none", "[models]") {
  Keys keys = with(with_yarn(moonlight()), "rope.scaling.yarn_log_multiplier", 0.0707F);
  const double temperature = 1.0 + 0.1 * 0.707 * std::log(40.0);
  CHECK(read(keys).score_scale == Approx(temperature * temperature / std::sqrt(192.0)));
  CHECK(read(keys).rope.magnitude == Approx(1.0).epsilon(1e-6));
  keys.erase("deepseek2.rope.scaling.yarn_log_multiplier");
  const Config c = read(keys);
  CHECK(c.rope.magnitude == Approx(1.0 + 0.1 * std::log(40.0)));
  CHECK(c.score_scale == Approx(std::pow(1.0 + 0.1 * std::log(40.0), 2.0) / std::sqrt(192.0)));
}

TEST_CASE("Sizes that do not fit together are refused by their key", "[models]") {
  const auto refuses = [](const Keys& keys, const std::string& key) {
    const Error error = test::error_of([&] { (void)read(keys); });
    CAPTURE(error.what());
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "key 'deepseek2." + key + "'"));
  };
  refuses(with(moonlight(), "rope.dimension_count", u32(192)), "rope.dimension_count");
  refuses(with(moonlight(), "leading_dense_block_count", u32(28)), "leading_dense_block_count");
  refuses(with(moonlight(), "expert_shared_count", u32(65)), "expert_shared_count");
  refuses(with(moonlight(), "expert_gating_func", u32(4)), "expert_gating_func");
  refuses(with(moonlight(), "expert_group_count", u32(7)), "expert_group_count");
  refuses(with(moonlight(), "expert_group_count", u32(8)), "expert_group_used_count");
  refuses(with(with(moonlight(), "expert_group_count", u32(32)), "expert_group_used_count", u32(2)),
          "expert_group_used_count");
  refuses(with(with_yarn(moonlight()), "rope.scaling.yarn_log_multiplier", 1e30F), "rope.scaling.yarn_log_multiplier");
  Keys keys = moonlight();
  keys.erase("deepseek2.attention.kv_lora_rank");
  refuses(keys, "attention.kv_lora_rank");
}

}  // namespace lazymoe::models
