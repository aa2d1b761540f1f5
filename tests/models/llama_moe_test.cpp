#include <lazymoe/models/llama_moe.hpp>

#include <string>
#include <utility>

#include "models/config_keys.hpp"
#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::models {
namespace {

using test::ConfigKeys;
using test::u32;

/// As in the published file of Mixtral 8x7B, with one key more or less.
Config read_with(const std::string& key = {}, gguf::Value value = std::uint32_t{0}) {
  ConfigKeys keys("llama", {{"block_count", u32(32)},
                            {"context_length", u32(32768)},
                            {"embedding_length", u32(4096)},
                            {"attention.head_count", u32(32)},
                            {"attention.head_count_kv", u32(8)},
                            {"attention.layer_norm_rms_epsilon", 1e-5F},
                            {"expert_count", u32(8)},
                            {"expert_used_count", u32(2)},
                            {"feed_forward_length", u32(14336)},
                            {"rope.freq_base", 1e6F},
                            {"rope.dimension_count", u32(128)}});
  if (!key.empty()) keys = keys.with(key, std::move(value));
  return LlamaMoe::read_config(keys.metadata());
}

}  // namespace

TEST_CASE("The published Mixtral is read as it is", "[models]") {
  const Config c = read_with();
  CHECK(c.key_dim == 128);
  CHECK(c.head_norm == HeadNorm::none);
  CHECK(c.attention_biases == AttentionBiases::none);
  CHECK(c.rope.pairs == tensor::RopePairs::norm);
  CHECK(c.rope.n_rot == 128);
  CHECK(c.n_ff_expert == 14336);
  CHECK(c.n_ff_shared == 0);
  CHECK(c.router.renormalise);
}

TEST_CASE("A dense llama is refused", "[models]") {
  const Error error = test::error_of([] { (void)read_with("expert_count", std::uint32_t{0}); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "key 'llama.expert_count' is out of range: 0"));
}

}  // namespace lazymoe::models
