#include <lazymoe/gguf/detail/cursor.hpp>

#include "gguf/raw_gguf.hpp"
#include "support/catch.hpp"

namespace lazymoe::gguf::detail {

using Catch::Matchers::Contains;

TEST_CASE("A cursor tells the end of the file from the end of what it was given", "[gguf]") {
  const auto raw = test::Raw().put(std::uint32_t{7}).put(std::uint16_t{8});
  Cursor cursor(raw.bytes(), 10, "x.gguf");
  CHECK(cursor.read<std::uint32_t>("a") == 7);
  CHECK(cursor.position() == 4);
  CHECK(cursor.left() == 6);

  CHECK_THROWS_WITH(cursor.take(7, "the key"), Contains("x.gguf: ends within the key: 7 bytes wanted at offset 4, 6"));
  CHECK_THROWS_WITH(cursor.take(~Bytes{0}, "the key"), Contains("ends within"));
  Bytes needed = 0;
  try {
    (void)cursor.take(5, "the key");
  } catch (const Beyond& beyond) {
    needed = beyond.needed;
  }
  CHECK(needed == 9);
  // A failed step does not move.
  CHECK(cursor.read<std::uint16_t>("b") == 8);
}

TEST_CASE("A cursor multiplies counts without wrapping", "[gguf]") {
  const Cursor cursor({}, 100, "x.gguf");
  cursor.expect_in_file(25, 4, "the array");
  CHECK_THROWS_WITH(cursor.expect_in_file(26, 4, "the array"), Contains("26 elements wanted"));
  CHECK_THROWS_WITH(cursor.expect_in_file(std::uint64_t{1} << 62, 8, "the array"), Contains("ends within the array"));
}

TEST_CASE("A header beyond all reason is refused before it is read", "[gguf]") {
  Cursor cursor({}, 4 * Limits::header_bytes, "x.gguf");
  CHECK_THROWS_WITH(cursor.take(Limits::header_bytes + 1, "the key"), Contains("header of more than 1073741824 bytes"));
}

TEST_CASE("Strings are limited twice, by the file and by reason", "[gguf]") {
  const auto raw = test::Raw().string("hello");
  CHECK(Cursor(raw.bytes(), 13, "x").read_string(5, "name") == "hello");
  CHECK_THROWS_WITH(Cursor(raw.bytes(), 13, "x").read_string(4, "name"), Contains("name is 5 bytes long, at most 4"));
  CHECK_THROWS_WITH(Cursor(raw.bytes(), 12, "x").read_string(5, "name"), Contains("ends within name"));
}

}  // namespace lazymoe::gguf::detail
