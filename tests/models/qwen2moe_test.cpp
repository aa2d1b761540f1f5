#include <lazymoe/models/qwen2moe.hpp>

#include <string>
#include <utility>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file of Qwen1.5-MoE-A2.7B, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  ConfigKeys keys("qwen2moe", {{"block_count", u32(24)},
                               {"context_length", u32(8192)},
                               {"embedding_length", u32(2048)},
                               {"attention.head_count", u32(16)},
                               {"attention.head_count_kv", u32(16)},
                               {"attention.layer_norm_rms_epsilon", 1e-6F},
                               {"expert_count", u32(60)},
                               {"expert_used_count", u32(4)},
                               {"feed_forward_length", u32(5632)},
                               {"expert_feed_forward_length", u32(1408)},
                               {"expert_shared_feed_forward_length", u32(5632)},
                               {"rope.freq_base", 1e6F}});
  if (!key.empty()) keys = keys.with(key, std::move(value));
  return Qwen2Moe::read_config(keys.metadata());
}

}  // namespace

TEST_CASE("The published qwen2moe model is read as it is", "[models]") {
  const Config c = read_with();
  CHECK(c.key_dim == 128);
  CHECK(c.head_norm == HeadNorm::none);
  CHECK(c.attention_biases == AttentionBiases::inputs);
  CHECK(c.rope.pairs == tensor::RopePairs::neox);
  CHECK(c.n_ff_expert == 1408);
  CHECK(c.n_ff_shared == 5632);
  CHECK(c.shared_gate);
}

TEST_CASE("qwen2moe never renormalises, whatever the file says", "[models]") {
  CHECK_FALSE(read_with("expert_weights_norm", true).router.renormalise);
}

TEST_CASE("A qwen2moe file whose shared expert has no width is refused", "[models]") {
  const Error error = test::error_of([] { (void)read_with("expert_shared_feed_forward_length", std::uint32_t{0}); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "key 'qwen2moe.expert_shared_feed_forward_length' is out of range: 0"));
}

}  // namespace lazymoe::models
