#include <lazymoe/gguf/parse.hpp>
#include <lazymoe/gguf/writer.hpp>
#include <string>
#include <variant>
#include <vector>

#include "gguf/fixtures.hpp"
#include "gguf/raw_gguf.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::gguf {
namespace {

using Catch::Matchers::Contains;
using quant::TypeId;
using test::Raw;

Header header_of(const std::vector<std::byte>& bytes) { return std::get<Header>(parse(bytes, bytes.size(), "x.gguf")); }

}  // namespace

TEST_CASE("A written file is the bytes the format demands", "[gguf]") {
  Writer writer;
  writer.set("k", std::uint16_t{7});
  writer.set("s", std::vector<std::string>{"ab"});
  writer.add_tensor("t", {2}, TypeId::f32, Raw().text("12345678").bytes());

  Raw expected;
  expected.text("GGUF").put(std::uint32_t{3}).put(std::uint64_t{1}).put(std::uint64_t{2});
  expected.string("k").put(std::uint32_t{2}).put(std::uint16_t{7});
  expected.string("s").put(std::uint32_t{9}).put(std::uint32_t{8}).put(std::uint64_t{1}).string("ab");
  expected.string("t").put(std::uint32_t{1}).put(std::uint64_t{2}).put(std::uint32_t{0}).put(std::uint64_t{0});
  expected.zeros(32 - expected.bytes().size() % 32).text("12345678").zeros(24);
  CHECK(writer.bytes() == expected.bytes());
}

TEST_CASE("Setting a key again replaces it in its place", "[gguf]") {
  Writer writer;
  writer.set("a", "first");
  writer.set("b", true);
  writer.set("a", std::int32_t{-1});
  const Header header = header_of(writer.bytes());
  REQUIRE(header.metadata.size() == 2);
  CHECK(header.metadata.begin()->key == "a");
  CHECK(header.metadata.require<int>("a") == -1);
}

TEST_CASE("Metadata of one file can be written into another", "[gguf]") {
  const Header original = header_of(test::small_model().bytes());
  Writer writer;
  for (const auto& [key, value] : original.metadata) writer.set(key, value);
  const Header copy = header_of(writer.bytes());
  REQUIRE(copy.metadata.size() == original.metadata.size());
  for (const auto& [key, value] : original.metadata) {
    CAPTURE(key);
    REQUIRE(copy.metadata.contains(key));
    CHECK(copy.metadata.value(key)->describe_type() == value.describe_type());
  }
  CHECK(copy.alignment == 64);
}

TEST_CASE("The writer refuses what the parser would", "[gguf]") {
  Writer writer;
  CHECK_THROWS_WITH(writer.set("", true), Contains("key ''"));
  CHECK_THROWS_WITH(writer.set("general.alignment", std::uint32_t{24}), Contains("power of two"));
  CHECK_THROWS_WITH(writer.set("general.alignment", std::uint64_t{32}), Contains("must be a u32"));

  const std::vector<std::byte> four(4);
  writer.add_tensor("t", {1}, TypeId::f32, four);
  CHECK_THROWS_WITH(writer.add_tensor("t", {1}, TypeId::f32, four), "tensor 't': added twice");
  CHECK_THROWS_WITH(writer.add_tensor("", {1}, TypeId::f32, four), Contains("its name is empty"));
  CHECK_THROWS_WITH(writer.add_tensor(std::string(64, 'n'), {1}, TypeId::f32, four), Contains("too long"));
  CHECK_THROWS_WITH(writer.add_tensor("u", {}, TypeId::f32, four), "tensor 'u': must have 1 to 4 dimensions");
  CHECK_THROWS_WITH(writer.add_tensor("u", {1, 1, 1, 1, 1}, TypeId::f32, four), Contains("1 to 4 dimensions"));
  CHECK_THROWS_WITH(writer.add_tensor("u", {2}, TypeId::f32, four), "tensor 'u': given 4 bytes, its shape takes 8");
  CHECK_THROWS_WITH(writer.add_tensor("u", {0}, TypeId::f32, {}), "tensor 'u': a dimension is 0");
  CHECK_THROWS_WITH(writer.add_tensor("u", {1}, TypeId{99}, four), Contains("type 99 is unknown"));
  CHECK(header_of(writer.bytes()).tensors.size() == 1);
}

TEST_CASE("Only the first shard carries the metadata", "[gguf]") {
  const test::TempDir dir;
  auto writer = test::many_tensors(3);
  writer.set("general.alignment", std::uint32_t{128});
  const auto paths = writer.write_split(dir.path() / "m", 2);
  REQUIRE(paths.size() == 2);
  CHECK(paths[1].filename() == "m-00002-of-00002.gguf");

  const auto header_at = [](const std::filesystem::path& path) {
    std::vector<std::byte> bytes(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return header_of(bytes);
  };
  const Header first = header_at(paths[0]);
  const Header second = header_at(paths[1]);
  CHECK(first.alignment == 128);
  CHECK(first.metadata.contains("general.architecture"));
  CHECK(first.metadata.require<int>("split.tensors.count") == 3);
  CHECK(second.alignment == 32);
  CHECK(second.metadata.size() == 3);
  CHECK(second.metadata.require<int>("split.no") == 1);
  CHECK(second.tensors.size() == 1);

  CHECK_THROWS_WITH(writer.write_split(dir.path() / "m", 0), Contains("at least one tensor"));
}

TEST_CASE("A file that cannot be written is an Error", "[gguf]") {
  const test::TempDir dir;
  CHECK_THROWS_WITH(test::small_model().write(dir.path() / "absent" / "m.gguf"), Contains("cannot write"));
}

}  // namespace lazymoe::gguf
