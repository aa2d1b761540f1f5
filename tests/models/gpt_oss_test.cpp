#include <lazymoe/models/gpt_oss.hpp>

#include <string>
#include <utility>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file of gpt-oss-20b, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  ConfigKeys keys("gpt-oss", {{"block_count", u32(24)},
                              {"context_length", u32(131072)},
                              {"embedding_length", u32(2880)},
                              {"attention.head_count", u32(64)},
                              {"attention.head_count_kv", u32(8)},
                              {"attention.layer_norm_rms_epsilon", 1e-5F},
                              {"expert_count", u32(32)},
                              {"expert_used_count", u32(4)},
                              {"expert_feed_forward_length", u32(2880)},
                              {"attention.key_length", u32(64)},
                              {"attention.value_length", u32(64)},
                              {"attention.sliding_window", u32(128)},
                              {"rope.freq_base", 150000.0F},
                              {"rope.scaling.type", "yarn"},
                              {"rope.scaling.factor", 32.0F},
                              {"rope.scaling.original_context_length", u32(4096)}});
  if (!key.empty()) keys = keys.with(key, std::move(value));
  return GptOss::read_config(keys.metadata());
}

}  // namespace

TEST_CASE("The published gpt-oss model is read as it is", "[models]") {
  const Config c = read_with();
  CHECK(c.n_ff_expert == 2880);
  CHECK(c.attention_biases == AttentionBiases::all);
  CHECK(c.attention_sinks);
  CHECK(c.window == 128);
  CHECK(c.ffn_norm == "post_attention_norm");
  CHECK(c.rope.pairs == tensor::RopePairs::neox);
  CHECK(c.expert_biases);
  CHECK(c.activation == moe::Activation::clamped_swiglu);
  CHECK(c.router.gating == moe::Gating::softmax_of_chosen);
  CHECK_FALSE(c.router.renormalise);
}

TEST_CASE("A gpt-oss file without a window is refused", "[models]") {
  const Error error = test::error_of([] { (void)read_with("attention.sliding_window", std::uint32_t{0}); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "key 'gpt-oss.attention.sliding_window' is out of range: 0"));
}

}  // namespace lazymoe::models
