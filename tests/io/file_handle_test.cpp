#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <lazymoe/io/file_handle.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::io {
namespace {

using Catch::Matchers::Contains;

std::array<std::byte, 4> digits() { return {std::byte{'0'}, std::byte{'1'}, std::byte{'2'}, std::byte{'3'}}; }

}  // namespace

TEST_CASE("A file handle reads exactly what is asked for", "[io]") {
  const test::TempDir dir;
  const FileHandle file(dir.write("digits", digits()));
  CHECK(file.bytes() == 4);

  std::array<std::byte, 2> two{};
  file.read_exact_at(1, two);
  CHECK(two == std::array{std::byte{'1'}, std::byte{'2'}});
  file.read_exact_at(4, {});

  CHECK_THROWS_WITH(file.read_exact_at(3, two), Contains("digits: wanted 2 bytes at offset 3, got 1"));
  CHECK_THROWS_WITH(file.read_exact_at(~std::uint64_t{0}, two), Contains("got 0"));
}

TEST_CASE("A file handle overcomes interruptions, and gives up on a file that always would wait", "[io]") {
  const test::TempDir dir;
  const FileHandle file(dir.write("digits", digits()));
  std::array<std::byte, 4> four{};
  int calls = 0;
  file.read_exact_at(0, four, [&](int descriptor, std::span<std::byte> into, off_t offset) -> ssize_t {
    errno = calls % 2 == 0 ? EINTR : EAGAIN;
    return ++calls < 50 ? -1 : SystemRead{}(descriptor, into.first(1), offset);
  });
  CHECK(four == digits());
  CHECK(calls == 53);

  const auto never = [](int, std::span<std::byte>, off_t) -> ssize_t {
    errno = EAGAIN;
    return -1;
  };
  CHECK_THROWS_WITH(file.read_exact_at(0, four, never), Contains("digits: cannot read 4 bytes at offset 0"));
}

TEST_CASE("Only regular files that exist can be opened", "[io]") {
  const test::TempDir dir;
  CHECK_THROWS_WITH(FileHandle(dir.path() / "absent"), Contains("absent: cannot open: No such file"));
  CHECK_THROWS_WITH(FileHandle(dir.path()), Contains("is a directory, not a regular file"));

  const auto pipe = dir.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(FileHandle(pipe), Contains("is a special file, not a regular file"));
}

TEST_CASE("A moved file handle keeps reading and closes once", "[io]") {
  const test::TempDir dir;
  FileHandle first(dir.write("digits", digits()));
  FileHandle second(std::move(first));
  FileHandle third(dir.write("empty", {}));
  CHECK(third.bytes() == 0);
  third = std::move(second);

  std::array<std::byte, 1> one{};
  third.read_exact_at(3, one);
  CHECK(one[0] == std::byte{'3'});
  CHECK(third.path().filename() == "digits");
}

}  // namespace lazymoe::io
