#include <lazymoe/models/config.hpp>

#include <cmath>
#include <limits>
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

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

const ConfigKeys required("some", {{"block_count", u32(5)},
                                   {"context_length", u32(1000)},
                                   {"embedding_length", u32(96)},
                                   {"attention.head_count", u32(6)},
                                   {"attention.layer_norm_rms_epsilon", 1e-5F},
                                   {"expert_count", u32(8)},
                                   {"expert_used_count", u32(2)}});

Config read(const ConfigKeys& keys) {
  const gguf::Metadata metadata = keys.metadata();
  return read_common_config(ConfigReader(metadata));
}

Config read_with(const std::string& key, gguf::Value value) { return read(required.with(key, std::move(value))); }

}  // namespace

TEST_CASE("Keys that a file may leave out have their usual values", "[models]") {
  const Config c = read(required);
  CHECK(c.architecture == "some");
  CHECK(c.n_layers == 5);
  CHECK(c.n_ctx_train == 1000);
  CHECK(c.n_embd == 96);
  CHECK(c.n_heads == 6);
  CHECK(c.n_kv_heads == 6);
  CHECK(c.key_dim == 16);
  CHECK(c.value_dim == 16);
  CHECK(c.rope.n_rot == 16);
  CHECK(c.rope.base == 10000.0F);
  CHECK(c.rope.freq_scale == 1.0F);
  CHECK(c.rms_epsilon == 1e-5F);
  CHECK(c.n_experts == 8);
  CHECK(c.n_experts_used == 2);
  CHECK(c.router.scale == 1.0F);
}

TEST_CASE("Keys that a file has are taken, whatever width of integer it uses", "[models]") {
  CHECK(read_with("attention.head_count_kv", std::uint64_t{3}).n_kv_heads == 3);
  CHECK(read_with("attention.key_length", std::uint16_t{64}).key_dim == 64);
  CHECK(read_with("attention.key_length", std::uint32_t{64}).rope.n_rot == 64);
  CHECK(read_with("attention.value_length", std::int32_t{32}).value_dim == 32);
  CHECK(read_with("rope.dimension_count", std::uint32_t{8}).rope.n_rot == 8);
  CHECK(read_with("rope.freq_base", 1e6F).rope.base == 1e6F);
  CHECK(read_with("rope.scaling.factor", 4.0F).rope.freq_scale == 0.25F);
  CHECK(read_with("rope.scale_linear", 2.0F).rope.freq_scale == 0.5F);
  CHECK(read_with("rope.scaling.type", "none").rope.freq_scale == 1.0F);
  CHECK(read_with("expert_weights_scale", 2.5F).router.scale == 2.5F);
}

TEST_CASE("Trailing blocks of next-token prediction do not run", "[models]") {
  CHECK(read_with("nextn_predict_layers", std::uint32_t{1}).n_layers == 4);
}

TEST_CASE("A scale of 0 for expert weights means none", "[models]") {
  CHECK(read_with("expert_weights_scale", 0.0F).router.scale == 1.0F);
}

TEST_CASE("Each required key is named when it is missing", "[models]") {
  for (const auto& key : required.all()) {
    gguf::Metadata metadata("m.gguf");
    for (const auto& other : required.all()) {
      if (other.first != key.first) metadata.insert(other.first, other.second);
    }
    const Error error = test::error_of([&] { (void)read_common_config(ConfigReader(metadata)); });
    CAPTURE(key.first, error.what());
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "m.gguf: key '" + key.first + "' is missing"));
  }
}

TEST_CASE("Each absurd value is refused by the name of its key", "[models]") {
  const std::vector<std::pair<std::string, gguf::Value>> absurd{
      {"block_count", u32(0)},
      {"block_count", u32(4097)},
      {"block_count", std::int32_t{-1}},
      {"block_count", "five"},
      {"nextn_predict_layers", u32(5)},
      {"embedding_length", u32(0)},
      {"embedding_length", u32(0xFFFFFFFF)},
      {"attention.head_count", u32(0)},
      {"attention.head_count", std::vector<std::uint32_t>{6, 6}},
      {"attention.head_count_kv", u32(0)},
      {"attention.head_count_kv", u32(4)},
      {"attention.key_length", u32(0)},
      {"attention.key_length", u32(1U << 25)},
      {"attention.value_length", u32(0)},
      {"rope.dimension_count", u32(0)},
      {"rope.dimension_count", u32(7)},
      {"rope.dimension_count", u32(18)},
      {"rope.freq_base", 0.0F},
      {"rope.freq_base", -1.0F},
      {"rope.freq_base", nan},
      {"rope.freq_base", infinity},
      {"rope.scaling.factor", -2.0F},
      {"rope.scaling.factor", nan},
      {"rope.scaling.factor", infinity},
      {"rope.scaling.factor", 1e-45F},
      {"attention.layer_norm_rms_epsilon", -1e-6F},
      {"attention.layer_norm_rms_epsilon", nan},
      {"attention.layer_norm_rms_epsilon", infinity},
      {"context_length", u32(0)},
      {"expert_count", u32(0)},
      {"expert_count", u32(65537)},
      {"expert_used_count", u32(0)},
      {"expert_used_count", u32(9)},
      {"expert_weights_scale", -1.0F},
      {"expert_weights_scale", nan},
      {"expert_weights_scale", infinity},
  };
  for (const auto& row : absurd) {
    const Error error = test::error_of([&] { (void)read_with(row.first, row.second); });
    CAPTURE(row.first, error.what());
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "m.gguf: key 'some." + row.first + "' "));
  }
}

TEST_CASE("Flags by layer may be bools or integers, and more than there are layers", "[models]") {
  const auto flags = [](gguf::Value value) {
    gguf::Metadata metadata("m.gguf");
    metadata.insert("general.architecture", "some");
    metadata.insert("some.flags", std::move(value));
    return ConfigReader(metadata).flags("flags", 3);
  };
  const std::vector<bool> expected{true, false, true};
  CHECK(flags(std::vector<bool>{true, false, true}) == expected);
  CHECK(flags(std::vector<std::uint32_t>{1, 0, 1, 1}) == expected);
  const std::vector<gguf::Value> refused{std::vector<bool>{true, false}, std::vector<float>{1, 0, 1}, std::uint32_t{1}};
  for (const gguf::Value& value : refused) {
    const Error error = test::error_of([&] { (void)flags(value); });
    CHECK(error.code() == Errc::bad_metadata);
    CHECK(test::mentions(error, "m.gguf: key 'some.flags' is not an array of 3 flags or more"));
  }
}

TEST_CASE("More heads than the width has room for are refused", "[models]") {
  const Error error = test::error_of([] { (void)read_with("attention.head_count", std::uint32_t{97}); });
  CHECK(error.code() == Errc::bad_metadata);
  CHECK(test::mentions(error, "key 'some.attention.key_length' is out of range: 0"));
}

TEST_CASE("YaRN is read, with the usual values of what a file leaves out", "[models]") {
  ConfigKeys keys = required;
  keys = keys.with("rope.scaling.type", "yarn");
  keys = keys.with("rope.scaling.factor", 32.0F);
  const Config plain = read(keys);
  CHECK(plain.rope.freq_scale == 1.0F / 32.0F);
  CHECK(plain.rope.magnitude == Approx(1.0 + 0.1 * std::log(32.0)));
  const tensor::Yarn& yarn = plain.rope.yarn;
  CHECK(yarn.share == 1.0F);
  CHECK(yarn.n_ctx_train == 1000.0F);
  CHECK(yarn.fast_turns == 32.0F);
  CHECK(yarn.slow_turns == 1.0F);

  keys = keys.with("rope.scaling.original_context_length", std::uint32_t{500});
  keys = keys.with("rope.scaling.attn_factor", 2.0F);
  keys = keys.with("rope.scaling.yarn_beta_fast", 16.0F);
  keys = keys.with("rope.scaling.yarn_beta_slow", 2.0F);
  const Config full = read(keys);
  CHECK(full.rope.magnitude == Approx(2.0 + 0.2 * std::log(32.0)));
  CHECK(full.rope.yarn.n_ctx_train == 500.0F);
  CHECK(full.rope.yarn.fast_turns == 16.0F);
  CHECK(full.rope.yarn.slow_turns == 2.0F);

  keys = keys.with("rope.scaling.yarn_beta_fast", -1.0F);
  CHECK(test::mentions(test::error_of([&] { (void)read(keys); }),
                       "key 'some.rope.scaling.yarn_beta_fast' is not a positive number"));
}

TEST_CASE("A rope scaling that is not built is refused by its name", "[models]") {
  const Error error = test::error_of([] { (void)read_with("rope.scaling.type", "longrope"); });
  CHECK(error.code() == Errc::unsupported_model);
  CHECK(std::string(error.what()) ==
        "m.gguf: key 'some.rope.scaling.type' asks for 'longrope', which is not supported");
}

}  // namespace lazymoe::models
