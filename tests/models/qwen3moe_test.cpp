#include <lazymoe/models/qwen3moe.hpp>

#include <string>
#include <utility>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file.
const ConfigKeys published("qwen3moe", {{"block_count", u32(48)},
                                        {"context_length", u32(40960)},
                                        {"embedding_length", u32(2048)},
                                        {"feed_forward_length", u32(6144)},
                                        {"attention.head_count", u32(32)},
                                        {"attention.head_count_kv", u32(4)},
                                        {"rope.freq_base", 1e6F},
                                        {"attention.layer_norm_rms_epsilon", 1e-6F},
                                        {"expert_used_count", u32(8)},
                                        {"attention.key_length", u32(128)},
                                        {"attention.value_length", u32(128)},
                                        {"expert_count", u32(128)},
                                        {"expert_feed_forward_length", u32(768)},
                                        {"expert_shared_feed_forward_length", u32(0)}});

Config read(const ConfigKeys& keys) { return Qwen3Moe::read_config(keys.metadata()); }

Config read_with(const std::string& key, gguf::Value value) { return read(published.with(key, std::move(value))); }

}  // namespace

TEST_CASE("The published qwen3moe model is read as it is", "[models]") {
  const Config c = read(published);
  CHECK(c.architecture == "qwen3moe");
  CHECK(c.n_layers == 48);
  CHECK(c.n_embd == 2048);
  CHECK(c.n_heads * c.key_dim == 4096);
  CHECK(c.n_kv_heads * c.value_dim == 512);
  CHECK(c.n_experts == 128);
  CHECK(c.n_experts_used == 8);
  CHECK(c.n_ff_expert == 768);
  const auto& rope = c.rope;
  CHECK(rope.n_rot == 128);
  CHECK(rope.base == 1e6F);
  CHECK(rope.freq_scale == 1.0F);
  CHECK(rope.pairs == tensor::RopePairs::neox);
}

TEST_CASE("Without its own key the width of an expert is a share of the dense width", "[models]") {
  ConfigKeys keys = published.without("expert_feed_forward_length");
  CHECK(read(keys).n_ff_expert == 6144 / 8);

  keys = keys.with("feed_forward_length", u32(7));
  CHECK(test::mentions(test::error_of([&] { (void)read(keys); }),
                       "key 'qwen3moe.feed_forward_length' is smaller than expert_used_count"));

  keys = keys.without("feed_forward_length");
  CHECK(test::mentions(test::error_of([&] { (void)read(keys); }), "key 'qwen3moe.feed_forward_length' is missing"));
}

TEST_CASE("qwen3moe renormalises whatever the file says", "[models]") {
  const auto router = read_with("expert_weights_norm", false).router;
  CHECK(router.renormalise);
  CHECK(router.scale == 1.0F);
  CHECK(read_with("expert_weights_scale", 2.0F).router.scale == 2.0F);
}

TEST_CASE("qwen3moe turns whole heads", "[models]") {
  const Error error = test::error_of([] { (void)read_with("rope.dimension_count", std::uint32_t{64}); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "key 'qwen3moe.rope.dimension_count' differs from attention.key_length"));
}

TEST_CASE("A linear rope scaling of a qwen3moe file is applied", "[models]") {
  CHECK(read_with("rope.scaling.factor", 4.0F).rope.freq_scale == 0.25F);
}

}  // namespace lazymoe::models
