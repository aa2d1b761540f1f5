#include <lazymoe/models/qwen2moe.hpp>

#include <map>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

/// As in the published file of Qwen1.5-MoE-A2.7B, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  const auto u32 = [](std::uint32_t number) { return gguf::Value(number); };
  std::map<std::string, gguf::Value> keys{{"general.architecture", "qwen2moe"},
                                          {"qwen2moe.block_count", u32(24)},
                                          {"qwen2moe.context_length", u32(8192)},
                                          {"qwen2moe.embedding_length", u32(2048)},
                                          {"qwen2moe.attention.head_count", u32(16)},
                                          {"qwen2moe.attention.head_count_kv", u32(16)},
                                          {"qwen2moe.attention.layer_norm_rms_epsilon", 1e-6F},
                                          {"qwen2moe.expert_count", u32(60)},
                                          {"qwen2moe.expert_used_count", u32(4)},
                                          {"qwen2moe.feed_forward_length", u32(5632)},
                                          {"qwen2moe.expert_feed_forward_length", u32(1408)},
                                          {"qwen2moe.expert_shared_feed_forward_length", u32(5632)},
                                          {"qwen2moe.rope.freq_base", 1e6F}};
  if (!key.empty()) keys.insert_or_assign("qwen2moe." + key, std::move(value));
  gguf::Metadata metadata("m.gguf");
  for (const auto& entry : keys) metadata.insert(entry.first, entry.second);
  return Qwen2Moe::read_config(metadata);
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
