#include <lazymoe/models/granitemoe.hpp>

#include <string>
#include <utility>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file of Granite 3.0 3B-A800M, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  ConfigKeys keys("granitemoe", {{"block_count", u32(32)},
                                 {"context_length", u32(4096)},
                                 {"embedding_length", u32(1536)},
                                 {"attention.head_count", u32(24)},
                                 {"attention.head_count_kv", u32(8)},
                                 {"attention.layer_norm_rms_epsilon", 1e-6F},
                                 {"expert_count", u32(40)},
                                 {"expert_used_count", u32(8)},
                                 {"feed_forward_length", u32(512)},
                                 {"rope.dimension_count", u32(64)},
                                 {"embedding_scale", 12.0F},
                                 {"residual_scale", 0.22F},
                                 {"attention.scale", 0.015625F},
                                 {"logit_scale", 6.0F}});
  if (!key.empty()) keys = keys.with(key, std::move(value));
  return GraniteMoe::read_config(keys.metadata());
}

}  // namespace

TEST_CASE("The published granitemoe model is read as it is", "[models]") {
  const Config c = read_with();
  CHECK(c.n_ff_expert == 512);
  CHECK(c.n_ff_shared == 0);
  CHECK(c.rope.pairs == tensor::RopePairs::norm);
  CHECK(c.router.renormalise);
  CHECK(c.embedding_scale == 12.0F);
  CHECK(c.residual_scale == 0.22F);
  CHECK(c.score_scale == 0.015625F);
  CHECK(c.logit_scale == 1.0F / 6.0F);
}

TEST_CASE("A granitemoe file may have a shared expert", "[models]") {
  CHECK(read_with("expert_shared_feed_forward_length", std::uint32_t{1024}).n_ff_shared == 1024);
}

TEST_CASE("Each factor of a granitemoe file must be a positive number", "[models]") {
  for (const std::string key : {"embedding_scale", "residual_scale", "attention.scale", "logit_scale"}) {
    const Error error = test::error_of([&] { (void)read_with(key, -1.0F); });
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "key 'granitemoe." + key + "' is not a positive number"));
  }
}

}  // namespace lazymoe::models
