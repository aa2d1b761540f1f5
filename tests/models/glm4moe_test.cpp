#include <lazymoe/models/glm4moe.hpp>

#include <string>
#include <utility>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file of GLM-4.5-Air, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  ConfigKeys keys("glm4moe", {{"block_count", u32(47)},
                              {"context_length", u32(131072)},
                              {"embedding_length", u32(4096)},
                              {"attention.head_count", u32(96)},
                              {"attention.head_count_kv", u32(8)},
                              {"attention.layer_norm_rms_epsilon", 1e-5F},
                              {"expert_count", u32(128)},
                              {"expert_used_count", u32(8)},
                              {"nextn_predict_layers", u32(1)},
                              {"feed_forward_length", u32(10944)},
                              {"expert_feed_forward_length", u32(1408)},
                              {"attention.key_length", u32(128)},
                              {"attention.value_length", u32(128)},
                              {"rope.dimension_count", u32(64)},
                              {"rope.freq_base", 1e6F},
                              {"leading_dense_block_count", u32(1)},
                              {"expert_shared_count", u32(1)},
                              {"expert_weights_norm", true},
                              {"expert_weights_scale", 1.0F}});
  if (!key.empty()) keys = keys.with(key, std::move(value));
  return Glm4Moe::read_config(keys.metadata());
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
  CHECK(test::mentions(error, "key 'glm4moe.expert_gating_func' is not known: 9"));
}

}  // namespace lazymoe::models
