#include <lazymoe/models/glm4moe.hpp>

#include <map>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

/// As in the published file of GLM-4.5-Air, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  const auto u32 = [](std::uint32_t number) { return gguf::Value(number); };
  std::map<std::string, gguf::Value> keys{{"general.architecture", "glm4moe"},
                                          {"glm4moe.block_count", u32(47)},
                                          {"glm4moe.context_length", u32(131072)},
                                          {"glm4moe.embedding_length", u32(4096)},
                                          {"glm4moe.attention.head_count", u32(96)},
                                          {"glm4moe.attention.head_count_kv", u32(8)},
                                          {"glm4moe.attention.layer_norm_rms_epsilon", 1e-5F},
                                          {"glm4moe.expert_count", u32(128)},
                                          {"glm4moe.expert_used_count", u32(8)},
                                          {"glm4moe.nextn_predict_layers", u32(1)},
                                          {"glm4moe.feed_forward_length", u32(10944)},
                                          {"glm4moe.expert_feed_forward_length", u32(1408)},
                                          {"glm4moe.attention.key_length", u32(128)},
                                          {"glm4moe.attention.value_length", u32(128)},
                                          {"glm4moe.rope.dimension_count", u32(64)},
                                          {"glm4moe.rope.freq_base", 1e6F},
                                          {"glm4moe.leading_dense_block_count", u32(1)},
                                          {"glm4moe.expert_shared_count", u32(1)},
                                          {"glm4moe.expert_weights_norm", true},
                                          {"glm4moe.expert_weights_scale", 1.0F}};
  if (!key.empty()) keys.insert_or_assign("glm4moe." + key, std::move(value));
  gguf::Metadata metadata("m.gguf");
  for (const auto& entry : keys) metadata.insert(entry.first, entry.second);
  return Glm4Moe::read_config(metadata);
}

}  // namespace

TEST_CASE("The published glm4moe model is read as it is", "[models]") {
  const Config c = read_with();
  CHECK(c.n_layers == 46);
  CHECK(c.n_dense_layers == 1);
  CHECK(c.n_ff_dense == 10944);
  CHECK(c.n_ff_expert == 1408);
  CHECK(c.n_ff_shared == 1408);
  CHECK(c.ffn_norm == "post_attention_norm");
  CHECK(c.rope.n_rot == 64);
  CHECK(c.rope.pairs == tensor::RopePairs::neox);
  CHECK(c.attention_biases == AttentionBiases::inputs);
  CHECK(c.head_norm == HeadNorm::heads_if_present);
  CHECK(c.selection_bias);
  CHECK(c.router.gating == moe::Gating::sigmoid);  // the file does not say
  CHECK(c.router.renormalise);
}

TEST_CASE("A glm4moe file may choose its gating", "[models]") {
  CHECK(read_with("expert_gating_func", std::uint32_t{1}).router.gating == moe::Gating::softmax);
  const Error error = test::error_of([] { (void)read_with("expert_gating_func", std::uint32_t{9}); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "key 'glm4moe.expert_gating_func' is "));
}

}  // namespace lazymoe::models
