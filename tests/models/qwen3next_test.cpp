#include <lazymoe/models/qwen3next.hpp>

#include <string>

#include "support/catch.hpp"

namespace lazymoe::models {

TEST_CASE("A qwen3next file is a hybrid whose value heads are neighbours where they share a key", "[models]") {
  gguf::Metadata metadata("m.gguf");
  metadata.insert("general.architecture", "qwen3next");
  const auto set = [&](const std::string& key, std::uint32_t value) { metadata.insert("qwen3next." + key, value); };
  // As in the published file of Qwen3-Next-80B-A3B.
  set("block_count", 48);
  set("context_length", 262144);
  set("embedding_length", 2048);
  set("attention.head_count", 16);
  set("attention.head_count_kv", 2);
  set("attention.key_length", 256);
  set("attention.value_length", 256);
  set("rope.dimension_count", 64);
  set("expert_count", 512);
  set("expert_used_count", 10);
  set("expert_feed_forward_length", 512);
  set("expert_shared_feed_forward_length", 512);
  set("ssm.conv_kernel", 4);
  set("ssm.state_size", 128);
  set("ssm.group_count", 16);
  set("ssm.time_step_rank", 32);
  set("ssm.inner_size", 4096);
  metadata.insert("qwen3next.attention.layer_norm_rms_epsilon", 1e-6F);
  const Config c = Qwen3Next::read_config(metadata);
  CHECK(c.recurrent_before(48) == 36);
  CHECK(c.delta_net.grouped);
  CHECK(c.attention_gate);
}

}  // namespace lazymoe::models
