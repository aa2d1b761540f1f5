#include <lazymoe/models/gpt_oss.hpp>

#include <map>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

/// As in the published file of gpt-oss-20b, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  const auto u32 = [](std::uint32_t number) { return gguf::Value(number); };
  std::map<std::string, gguf::Value> keys{{"general.architecture", "gpt-oss"},
                                          {"gpt-oss.block_count", u32(24)},
                                          {"gpt-oss.context_length", u32(131072)},
                                          {"gpt-oss.embedding_length", u32(2880)},
                                          {"gpt-oss.attention.head_count", u32(64)},
                                          {"gpt-oss.attention.head_count_kv", u32(8)},
                                          {"gpt-oss.attention.layer_norm_rms_epsilon", 1e-5F},
                                          {"gpt-oss.expert_count", u32(32)},
                                          {"gpt-oss.expert_used_count", u32(4)},
                                          {"gpt-oss.expert_feed_forward_length", u32(2880)},
                                          {"gpt-oss.attention.key_length", u32(64)},
                                          {"gpt-oss.attention.value_length", u32(64)},
                                          {"gpt-oss.attention.sliding_window", u32(128)},
                                          {"gpt-oss.rope.freq_base", 150000.0F},
                                          {"gpt-oss.rope.scaling.type", "yarn"},
                                          {"gpt-oss.rope.scaling.factor", 32.0F},
                                          {"gpt-oss.rope.scaling.original_context_length", u32(4096)}};
  if (!key.empty()) keys.insert_or_assign("gpt-oss." + key, std::move(value));
  gguf::Metadata metadata("m.gguf");
  for (const auto& entry : keys) metadata.insert(entry.first, entry.second);
  return GptOss::read_config(metadata);
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
