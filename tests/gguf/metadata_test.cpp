#include <lazymoe/gguf/metadata.hpp>
#include <memory>

#include "support/catch.hpp"

namespace lazymoe::gguf {
namespace {

Metadata sample() {
  Metadata metadata("m.gguf");
  metadata.insert("general.architecture", "olmoe");
  metadata.insert("olmoe.expert_count", std::uint32_t{64});
  metadata.insert("olmoe.rope.freq_base", 10000.0F);
  metadata.insert("tokens", std::vector<std::string>{"a", "b"});
  return metadata;
}

Errc code_of(const Metadata& metadata) {
  try {
    (void)metadata.require<int>("absent");
  } catch (const Error& error) {
    return error.code();
  }
  return Errc::io;
}

}  // namespace

TEST_CASE("Metadata is found by key and listed in file order", "[gguf]") {
  const Metadata metadata = sample();
  CHECK(metadata.require<std::string_view>("general.architecture") == "olmoe");
  CHECK(metadata.require<std::uint16_t>("olmoe.expert_count") == 64);
  CHECK(metadata.find<double>("olmoe.rope.freq_base") == 10000.0);
  CHECK(metadata.require_array<std::string_view>("tokens") == std::vector<std::string_view>{"a", "b"});
  CHECK(metadata.contains("tokens"));
  CHECK(metadata.value("absent") == nullptr);
  CHECK_FALSE(metadata.contains("absent"));
  CHECK_FALSE(metadata.find<int>("absent").has_value());
  CHECK_FALSE(metadata.find_array<int>("absent").has_value());

  std::string keys;
  for (const auto& [key, value] : metadata) keys += key + "=" + value.describe_type() + ";";
  CHECK(keys ==
        "general.architecture=string;olmoe.expert_count=u32 64;olmoe.rope.freq_base=f32 10000;"
        "tokens=array of 2 string;");
}

TEST_CASE("What cannot be had is refused with key, found and expected type", "[gguf]") {
  const Metadata metadata = sample();
  CHECK_THROWS_WITH(metadata.require<int>("absent"),
                    "m.gguf: key 'absent' is missing, expected an integer from -2147483648 to 2147483647");
  CHECK_THROWS_WITH(metadata.require_array<float>("absent"),
                    "m.gguf: key 'absent' is missing, expected an array, each element a number");
  CHECK_THROWS_WITH(metadata.find<bool>("olmoe.expert_count"),
                    "m.gguf: key 'olmoe.expert_count' is u32 64, expected a bool");
  CHECK_THROWS_WITH(metadata.find<std::int8_t>("general.architecture"),
                    "m.gguf: key 'general.architecture' is string, expected an integer from -128 to 127");
  CHECK_THROWS_WITH(metadata.find<std::string_view>("tokens"),
                    "m.gguf: key 'tokens' is array of 2 string, expected a string");
  CHECK_THROWS_WITH(metadata.find_array<float>("tokens"),
                    "m.gguf: key 'tokens' is array of 2 string, expected an array, each element a number");
  CHECK(code_of(metadata) == Errc::bad_metadata);
}

TEST_CASE("A key goes in once", "[gguf]") {
  Metadata metadata = sample();
  CHECK_THROWS_WITH(metadata.insert("tokens", 1.0), "m.gguf: key 'tokens' inserted twice");
  CHECK(metadata.size() == 4);
}

TEST_CASE("A copy stands alone and a move keeps views alive", "[gguf]") {
  auto original = std::make_unique<Metadata>(sample());
  const auto view = original->require<std::string_view>("general.architecture");
  const Metadata copy = *original;
  const Metadata moved = std::move(*original);
  original.reset();
  CHECK(view == "olmoe");
  CHECK(copy.require<std::string_view>("general.architecture") == "olmoe");
  CHECK(moved.require<std::string_view>("general.architecture").data() == view.data());
}

}  // namespace lazymoe::gguf
