#include <lazymoe/models/qwen3next.hpp>

#include "models/config_keys.hpp"
#include "support/catch.hpp"

namespace lazymoe::models {

TEST_CASE("A qwen3next file is a hybrid whose value heads are neighbours where they share a key", "[models]") {
  // As in the published file of Qwen3-Next-80B-A3B.
  const test::ConfigKeys keys("qwen3next", {{"block_count", test::u32(48)},
                                            {"context_length", test::u32(262144)},
                                            {"embedding_length", test::u32(2048)},
                                            {"attention.head_count", test::u32(16)},
                                            {"attention.head_count_kv", test::u32(2)},
                                            {"attention.key_length", test::u32(256)},
                                            {"attention.value_length", test::u32(256)},
                                            {"rope.dimension_count", test::u32(64)},
                                            {"expert_count", test::u32(512)},
                                            {"expert_used_count", test::u32(10)},
                                            {"expert_feed_forward_length", test::u32(512)},
                                            {"expert_shared_feed_forward_length", test::u32(512)},
                                            {"ssm.conv_kernel", test::u32(4)},
                                            {"ssm.state_size", test::u32(128)},
                                            {"ssm.group_count", test::u32(16)},
                                            {"ssm.time_step_rank", test::u32(32)},
                                            {"ssm.inner_size", test::u32(4096)},
                                            {"attention.layer_norm_rms_epsilon", 1e-6F}});
  const Config c = Qwen3Next::read_config(keys.metadata());
  CHECK(c.recurrent_before(48) == 36);
  CHECK(c.delta_net.grouped);
  CHECK(c.attention_gate);
}

}  // namespace lazymoe::models
