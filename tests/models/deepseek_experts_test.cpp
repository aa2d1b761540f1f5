#include <lazymoe/models/deepseek_experts.hpp>

#include <string>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

const ConfigKeys least("some", {{"feed_forward_length", u32(96)}, {"expert_feed_forward_length", u32(32)}});

Config read(const ConfigKeys& keys, const DeepseekExpertDefaults& defaults = {}) {
  const gguf::Metadata metadata = keys.metadata();
  Config c;
  c.n_layers = 5;
  c.n_experts = 16;
  c.n_experts_used = 4;
  read_deepseek_experts(ConfigReader(metadata), c, defaults);
  return c;
}

}  // namespace

TEST_CASE("What a file does not say of its experts is the family's usual", "[models]") {
  const Config plain = read(least);
  CHECK(plain.n_dense_layers == 0);
  CHECK(plain.n_ff_dense == 0);
  CHECK(plain.n_ff_expert == 32);
  CHECK(plain.n_ff_shared == 0);
  CHECK(plain.router.gating == moe::Gating::softmax);
  CHECK_FALSE(plain.router.renormalise);
  CHECK(plain.router.n_groups == 1);
  const Config other = read(least, {.n_shared = 2, .gating = moe::Gating::sigmoid});
  CHECK(other.n_ff_shared == 64);
  CHECK(other.router.gating == moe::Gating::sigmoid);
}

TEST_CASE("What a file says of its experts is taken", "[models]") {
  const Config c = read(least.with("leading_dense_block_count", u32(2))
                            .with("expert_shared_count", u32(1))
                            .with("expert_gating_func", u32(3))
                            .with("expert_weights_norm", true)
                            .with("expert_group_count", u32(4))
                            .with("expert_group_used_count", u32(2)),
                        {.n_shared = 2, .gating = moe::Gating::sigmoid});
  CHECK(c.n_dense_layers == 2);
  CHECK(c.n_ff_dense == 96);
  CHECK(c.n_ff_shared == 32);
  CHECK(c.router.gating == moe::Gating::softmax_of_chosen);
  CHECK(c.router.renormalise);
  CHECK(c.router.n_groups == 4);
  CHECK(c.router.n_groups_used == 2);
}

TEST_CASE("Counts of experts, layers and groups that do not suit each other are refused by name", "[models]") {
  const auto refuses = [](const ConfigKeys& keys, const std::string& key) {
    const Error error = test::error_of([&] { (void)read(keys); });
    CAPTURE(key, error.what());
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "key 'some." + key + "' "));
  };
  refuses(least.with("leading_dense_block_count", u32(6)), "leading_dense_block_count");
  refuses(least.without("feed_forward_length").with("leading_dense_block_count", u32(1)), "feed_forward_length");
  refuses(least.without("expert_feed_forward_length"), "expert_feed_forward_length");
  refuses(least.with("expert_shared_count", u32(17)), "expert_shared_count");
  refuses(least.with("expert_gating_func", u32(4)), "expert_gating_func");
  refuses(least.with("expert_group_count", u32(3)), "expert_group_count");
  refuses(least.with("expert_group_count", u32(4)), "expert_group_used_count");
  refuses(least.with("expert_group_count", u32(8)).with("expert_group_used_count", u32(1)), "expert_group_used_count");
}

}  // namespace lazymoe::models
