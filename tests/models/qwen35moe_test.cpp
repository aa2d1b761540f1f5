#include <lazymoe/models/qwen35moe.hpp>

#include <string>
#include <utility>
#include <vector>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

const std::vector<std::int32_t> sections{11, 11, 10, 0};

/// As in the published file of Qwen3.6-35B-A3B, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  ConfigKeys keys("qwen35moe", {{"block_count", u32(41)},
                                {"nextn_predict_layers", u32(1)},
                                {"context_length", u32(262144)},
                                {"embedding_length", u32(2048)},
                                {"attention.head_count", u32(16)},
                                {"attention.head_count_kv", u32(2)},
                                {"attention.key_length", u32(256)},
                                {"attention.value_length", u32(256)},
                                {"attention.layer_norm_rms_epsilon", 1e-6F},
                                {"rope.dimension_count", u32(64)},
                                {"rope.dimension_sections", sections},
                                {"rope.freq_base", 1e7F},
                                {"expert_count", u32(256)},
                                {"expert_used_count", u32(8)},
                                {"expert_feed_forward_length", u32(512)},
                                {"expert_shared_feed_forward_length", u32(512)},
                                {"ssm.conv_kernel", u32(4)},
                                {"ssm.state_size", u32(128)},
                                {"ssm.group_count", u32(16)},
                                {"ssm.time_step_rank", u32(32)},
                                {"ssm.inner_size", u32(4096)},
                                {"full_attention_interval", u32(4)}});
  if (!key.empty()) keys = keys.with(key, std::move(value));
  return Qwen35Moe::read_config(keys.metadata());
}

}  // namespace

TEST_CASE("The published qwen35moe model is read as it is", "[models]") {
  const Config c = read_with();
  CHECK(c.n_layers == 40);
  CHECK(c.recurrent_before(40) == 30);
  CHECK(c.recurrent_before(3) == 3);
  CHECK_FALSE(c.recurrent[3]);
  CHECK(c.recurrent[4]);
  CHECK_FALSE(c.recurrent[39]);
  CHECK(c.delta_net.channels() == 8192);
  CHECK(c.delta_net.value_width() == 4096);
  CHECK(c.delta_net.n_taps == 4);
  CHECK_FALSE(c.delta_net.grouped);
  CHECK(c.attention_gate);
  CHECK(c.head_norm == HeadNorm::heads);
  CHECK(c.rope.n_rot == 64);
  CHECK(c.rope.pairs == tensor::RopePairs::neox);
  CHECK(c.ffn_norm == "post_attention_norm");
  CHECK(c.n_ff_expert == 512);
  CHECK(c.n_ff_shared == 512);
  CHECK(c.shared_gate);
  CHECK(c.router.renormalise);
}

TEST_CASE("A qwen35moe file may list its recurrent layers, and attend at other intervals", "[models]") {
  std::vector<bool> listed(41, true);
  listed[7] = false;
  const Config c = read_with("attention.recurrent_layers", listed);
  CHECK(c.recurrent.size() == 40);
  CHECK(c.recurrent_before(40) == 39);
  CHECK_FALSE(c.recurrent[7]);
  CHECK(read_with("full_attention_interval", u32(2)).recurrent_before(40) == 20);
  CHECK(read_with("full_attention_interval", u32(1)).recurrent_before(40) == 0);
}

TEST_CASE("A qwen35moe file whose dimensions contradict each other is refused by the name of the key", "[models]") {
  const std::vector<std::pair<std::string, gguf::Value>> absurd{
      {"ssm.time_step_rank", u32(24)},
      {"ssm.inner_size", u32(4097)},
      {"ssm.conv_kernel", u32(0)},
      {"ssm.group_count", u32(0)},
      {"full_attention_interval", u32(0)},
      {"attention.value_length", u32(128)},
      {"attention.recurrent_layers", std::vector<bool>(39, true)},
  };
  for (const auto& row : absurd) {
    const Error error = test::error_of([&] { (void)read_with(row.first, row.second); });
    CAPTURE(row.first, error.what());
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "m.gguf: key 'qwen35moe." + row.first + "' "));
  }
}

}  // namespace lazymoe::models
