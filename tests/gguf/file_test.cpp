#include <filesystem>
#include <lazymoe/gguf/file.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gguf/fixtures.hpp"
#include "gguf/raw_gguf.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::gguf {
namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(const TensorInfo& tensor, const File& file) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.bytes));
  io::FileHandle(file.shards()[tensor.shard].path).read_exact_at(tensor.offset, bytes);
  return bytes;
}

fs::path write_text(const test::TempDir& dir, const std::string& name, std::string_view text) {
  return dir.write(name, test::Raw().text(text).bytes());
}

/// Shard `no` with keys and tensors of one's choice.
void write_shard(const fs::path& path, int no, int count, int total, const std::vector<std::string>& tensors) {
  Writer writer;
  writer.set("split.no", static_cast<std::uint16_t>(no));
  writer.set("split.count", static_cast<std::uint16_t>(count));
  writer.set("split.tensors.count", static_cast<std::int32_t>(total));
  for (const auto& name : tensors) writer.add_tensor(name, {1}, quant::TypeId::f32, std::vector<std::byte>(4));
  writer.write(path);
}

}  // namespace

TEST_CASE("A model in one file is opened", "[gguf]") {
  const test::TempDir dir;
  test::small_model().write(dir.path() / "small.gguf");
  const File file(dir.path() / "small.gguf");

  CHECK(file.name() == "small.gguf");
  CHECK(file.metadata().require<std::string_view>("general.architecture") == "olmoe");
  REQUIRE(file.shards().size() == 1);
  CHECK(file.shards()[0].bytes == fs::file_size(dir.path() / "small.gguf"));
  CHECK(file.header_bytes_read() <= file.shards()[0].bytes);
  REQUIRE(file.tensors().size() == 2);
  CHECK(file.find("a.weight") == &file.tensors()[0]);
  CHECK(file.find("b.weight") == &file.tensors()[1]);
  CHECK(file.find("a") == nullptr);
  CHECK(file.find("c") == nullptr);
  CHECK(bytes_of(file.tensors()[0], file) == std::vector<std::byte>(136, std::byte{1}));
  CHECK(bytes_of(file.tensors()[1], file) == std::vector<std::byte>(12, std::byte{2}));

  const File copy = file;
  CHECK(copy.find("b.weight") == &copy.tensors()[1]);
}

TEST_CASE("A model in shards is opened by its first", "[gguf]") {
  const test::TempDir dir;
  const auto paths = test::many_tensors(5).write_split(dir.path() / "m", 2);
  REQUIRE(paths.size() == 3);
  const File file(paths[0]);

  CHECK(file.name() == "m-00001-of-00003.gguf");
  CHECK(file.shards().size() == 3);
  REQUIRE(file.tensors().size() == 5);
  for (int i = 0; i < 5; ++i) {
    const TensorInfo* const tensor = file.find("t" + std::to_string(i));
    REQUIRE(tensor != nullptr);
    CHECK(tensor->shard == static_cast<std::uint32_t>(i / 2));
    CHECK(bytes_of(*tensor, file) == std::vector<std::byte>(4, static_cast<std::byte>(i)));
  }

  SECTION("a later shard points to the first") {
    CHECK_THROWS_WITH(File(paths[1]), Contains("m-00002-of-00003.gguf: is shard 2 of 3; open the first, ") &&
                                          Contains("m-00001-of-00003.gguf"));
  }
  SECTION("a missing shard is named") {
    fs::remove(paths[2]);
    CHECK_THROWS_WITH(File(paths[0]), Contains("m-00003-of-00003.gguf: cannot open: No such file or directory; it is shard 3 of 3"));
  }
  SECTION("shards in each other's place are told apart") {
    fs::remove(paths[1]);
    fs::copy_file(paths[2], paths[1]);
    CHECK_THROWS_WITH(File(paths[0]), Contains("m-00002-of-00003.gguf: key 'split.no' is 2, expected 1"));
  }
  SECTION("a shard under a name without numbers cannot find the others") {
    fs::rename(paths[0], dir.path() / "m.gguf");
    CHECK_THROWS_WITH(File(dir.path() / "m.gguf"), Contains("its name must end in '-00001-of-00003.gguf'"));
  }
}

TEST_CASE("A model is opened through whatever reads its files", "[gguf]") {
  const test::TempDir dir;
  const auto paths = test::many_tensors(5).write_split(dir.path() / "m", 2);
  std::vector<fs::path> opened;
  const File file("elsewhere/m-00001-of-00003.gguf", [&](const fs::path& path) {
    opened.push_back(path);
    return io::FileHandle(dir.path() / path.filename());
  });
  CHECK(opened == file.paths());
  CHECK(opened.back() == "elsewhere/m-00003-of-00003.gguf");
  CHECK(file.tensors().size() == 5);
}

TEST_CASE("The first shard may hold no tensor", "[gguf]") {
  const test::TempDir dir;
  write_shard(dir.path() / "m-00001-of-00002.gguf", 0, 2, 1, {});
  write_shard(dir.path() / "m-00002-of-00002.gguf", 1, 2, 1, {"t"});
  const File file(dir.path() / "m-00001-of-00002.gguf");
  REQUIRE(file.find("t") != nullptr);
  CHECK(file.find("t")->shard == 1);
}

TEST_CASE("Shards that do not agree are refused", "[gguf]") {
  const test::TempDir dir;
  const auto first = dir.path() / "m-00001-of-00002.gguf";
  const auto second = dir.path() / "m-00002-of-00002.gguf";

  SECTION("a tensor in both") {
    write_shard(first, 0, 2, 2, {"t"});
    write_shard(second, 1, 2, 2, {"t"});
    CHECK_THROWS_WITH(File(first), Contains("tensor 't' appears in shard 1 and again in shard 2"));
  }
  SECTION("another number of tensors") {
    write_shard(first, 0, 2, 3, {"t"});
    write_shard(second, 1, 2, 3, {"u"});
    CHECK_THROWS_WITH(File(first), Contains("'split.tensors.count' is 3, but the shards hold 2 tensors"));
  }
  SECTION("another number of shards") {
    write_shard(first, 0, 2, 2, {"t"});
    write_shard(second, 1, 3, 2, {"u"});
    CHECK_THROWS_WITH(File(first),
                      Contains("m-00002-of-00002.gguf: key 'split.count' is 3, but the first shard says 2"));
  }
}

TEST_CASE("Opening reads the header and next to nothing of the payload", "[gguf]") {
  const test::TempDir dir;
  const auto path = dir.path() / "large.gguf";
  constexpr Bytes payload = 1_GiB;

  SECTION("a small header") {
    const auto bytes = [] {
      test::RawGguf raw{.payload = 0, .keys = {}, .tensors = {}};
      return raw.tensor("t", {payload / 4}, 0, 0).bytes();
    }();
    fs::resize_file(dir.write("large.gguf", bytes), bytes.size() + payload);  // sparse
    const File file(path);
    CHECK(file.tensors()[0].bytes == payload);
    CHECK(file.header_bytes_read() == File::first_read);
  }
  SECTION("a header with a vocabulary of several megabytes") {
    Writer writer;
    writer.set("tokens", std::vector<std::string>(150'000, "a token, more or less"));
    writer.set("scores", std::vector<float>(150'000));
    const auto header = writer.bytes();
    fs::resize_file(dir.write("large.gguf", header), header.size() + payload);
    const File file(path);
    CHECK(file.metadata().require_array<std::string_view>("tokens").back() == "a token, more or less");
    CHECK(file.header_bytes_read() >= header.size());
    CHECK(file.header_bytes_read() <= 2 * header.size());
  }
}

TEST_CASE("What cannot be opened is explained", "[gguf]") {
  const test::TempDir dir;
  CHECK_THROWS_WITH(File(dir.path() / "absent.gguf"), Contains("absent.gguf: cannot open: No such file"));
  CHECK_THROWS_WITH(File(dir.path()), Contains("is a directory, not a regular file"));
  CHECK_THROWS_WITH(File(write_text(dir, "empty.gguf", "")), Contains("empty.gguf: is empty"));
  CHECK_THROWS_WITH(File(write_text(dir, "short.gguf", "GGUF\3")),
                    Contains("has 5 bytes, too short for a GGUF header"));
  CHECK_THROWS_WITH(File(write_text(dir, "page.gguf", "<!DOCTYPE html>\n<html>Please log in</html>")),
                    Contains("page.gguf: starts with '<!DOCTYPE', not with GGUF; it looks like a web page"));
  CHECK_THROWS_WITH(File(write_text(dir, "lfs.gguf",
                                    "version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 18556685824\n")),
                    Contains("lfs.gguf: is a Git LFS pointer"));

  auto bytes = test::small_model().bytes();
  bytes[4] = std::byte{1};
  CHECK_THROWS_WITH(File(dir.write("v1.gguf", bytes)), Contains("is GGUF version 1, which is obsolete"));
  bytes[4] = std::byte{0};
  bytes[7] = std::byte{3};
  CHECK_THROWS_WITH(File(dir.write("big.gguf", bytes)), Contains("big.gguf: is a big-endian GGUF file"));

  bytes = test::small_model().bytes();
  bytes.resize(bytes.size() - 64);
  CHECK_THROWS_WITH(File(dir.write("cut.gguf", bytes)),
                    Contains("cut.gguf: tensor 'b.weight'") && Contains("cut short"));
}

}  // namespace lazymoe::gguf
