#include <lazymoe/gguf/shards.hpp>

#include "support/catch.hpp"

namespace lazymoe::gguf {
namespace {

using Catch::Matchers::Contains;

Metadata split(std::uint16_t no, std::uint16_t count) {
  Metadata metadata("s.gguf");
  metadata.insert("split.no", no);
  metadata.insert("split.count", count);
  return metadata;
}

TensorInfo tensor(std::string name, std::uint32_t shard) {
  TensorInfo info;
  info.name = std::move(name);
  info.shard = shard;
  return info;
}

}  // namespace

TEST_CASE("A file without split keys is the only shard", "[gguf]") {
  const SplitKeys keys = read_split_keys(Metadata("s.gguf"));
  CHECK(keys.no == 0);
  CHECK(keys.count == 1);
  CHECK_FALSE(keys.tensors.has_value());
  CHECK(shard_paths("any name.bin", keys).size() == 1);
}

TEST_CASE("Split keys come in any integer type, and must make sense", "[gguf]") {
  Metadata metadata("s.gguf");
  metadata.insert("split.no", std::int64_t{1});
  metadata.insert("split.count", std::uint8_t{3});
  metadata.insert("split.tensors.count", std::int32_t{51});
  const SplitKeys keys = read_split_keys(metadata);
  CHECK(keys.no == 1);
  CHECK(keys.count == 3);
  CHECK(keys.tensors == 51);

  CHECK(read_split_keys(split(0, 0)).count == 1);  // the reference takes 0 for "not split"
  CHECK_THROWS_WITH(read_split_keys(split(3, 3)), "s.gguf: key 'split.no' is 3, beyond 'split.count' 3");
  Metadata large("s.gguf");
  large.insert("split.count", std::uint32_t{65536});
  CHECK_THROWS_WITH(read_split_keys(large), Contains("key 'split.count' is u32 65536"));
}

TEST_CASE("Shard names count from 1, in five digits or more", "[gguf]") {
  CHECK(shard_suffix(0, 3) == "-00001-of-00003.gguf");
  CHECK(shard_suffix(65534, 65535) == "-65535-of-65535.gguf");

  const auto paths = shard_paths("dir/m-00001-of-00003.gguf", {.no = 0, .count = 3, .tensors = {}});
  REQUIRE(paths.size() == 3);
  CHECK(paths[0] == "dir/m-00001-of-00003.gguf");
  CHECK(paths[2] == "dir/m-00003-of-00003.gguf");

  CHECK_THROWS_WITH(shard_paths("m.gguf", {.no = 0, .count = 3, .tensors = {}}),
                    Contains("m.gguf: is shard 1 of 3, so its name must end in '-00001-of-00003.gguf'"));
  CHECK_THROWS_WITH(shard_paths("m-00001-of-00002.gguf", {.no = 0, .count = 3, .tensors = {}}),
                    Contains("must end in"));
}

TEST_CASE("A shard must be the one its name says", "[gguf]") {
  CHECK_NOTHROW(check_shard(split(1, 3), 1, 3));
  CHECK_THROWS_WITH(check_shard(split(2, 3), 1, 3), "s.gguf: key 'split.no' is 2, expected 1");
  CHECK_THROWS_WITH(check_shard(split(1, 4), 1, 3), "s.gguf: key 'split.count' is 4, but the first shard says 3");
  CHECK_THROWS_WITH(check_shard(Metadata("s.gguf"), 1, 3), Contains("'split.count' is 1"));
}

TEST_CASE("Tensors of all shards are indexed by name, each once", "[gguf]") {
  const std::vector<TensorInfo> tensors = {tensor("c", 0), tensor("a", 0), tensor("b", 1)};
  CHECK(index_tensors(tensors, {}, "s.gguf") == std::vector<std::uint32_t>{1, 2, 0});
  CHECK_NOTHROW(index_tensors(tensors, {.no = 0, .count = 2, .tensors = 3}, "s.gguf"));
  CHECK_THROWS_WITH(index_tensors(tensors, {.no = 0, .count = 2, .tensors = 4}, "s.gguf"),
                    "s.gguf: key 'split.tensors.count' is 4, but the shards hold 3 tensors");

  const std::vector<TensorInfo> twins = {tensor("a", 0), tensor("b", 1), tensor("a", 2)};
  CHECK_THROWS_WITH(index_tensors(twins, {}, "s.gguf"), "s.gguf: tensor 'a' appears in shard 1 and again in shard 3");
}

}  // namespace lazymoe::gguf
