#include <lazymoe/models/olmoe.hpp>

#include <string>
#include <utility>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file of OLMoE-1B-7B, with one key more.
Config read_with(const std::string& key, gguf::Value value) {
  ConfigKeys keys("olmoe", {{"block_count", u32(16)},
                            {"context_length", u32(4096)},
                            {"embedding_length", u32(2048)},
                            {"feed_forward_length", u32(1024)},
                            {"attention.head_count", u32(16)},
                            {"attention.head_count_kv", u32(16)},
                            {"attention.layer_norm_rms_epsilon", 1e-5F},
                            {"expert_count", u32(64)},
                            {"expert_used_count", u32(8)}});
  keys = keys.with(key, std::move(value));
  return Olmoe::read_config(keys.metadata());
}

}  // namespace

TEST_CASE("The published olmoe model is read as it is", "[models]") {
  const Config c = read_with("rope.freq_base", 10000.0F);
  CHECK(c.key_dim == 128);
  CHECK(c.value_dim == 128);
  CHECK(c.rope.n_rot == 128);
  CHECK(c.rope.pairs == tensor::RopePairs::neox);
  CHECK(c.head_norm == HeadNorm::rows);
  CHECK(c.n_ff_expert == 1024);  // the whole of feed_forward_length
  CHECK(c.n_ff_shared == 0);
  CHECK(c.n_dense_layers == 0);
}

TEST_CASE("olmoe never renormalises, whatever the file says", "[models]") {
  CHECK_FALSE(read_with("expert_weights_norm", true).router.renormalise);
}

TEST_CASE("An olmoe file that clips its projections is refused", "[models]") {
  const Error error = test::error_of([] { (void)read_with("attention.clamp_kqv", 8.0F); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "key 'olmoe.attention.clamp_kqv' is not supported"));
}

}  // namespace lazymoe::models
