#include <array>
#include <lazymoe/gguf/detail/parse_start.hpp>
#include <string>
#include <string_view>

#include "gguf/raw_gguf.hpp"
#include "support/catch.hpp"

namespace lazymoe::gguf::detail {
namespace {

using Catch::Matchers::Contains;

Start start_of(const test::Raw& raw) {
  Cursor cursor(raw.bytes(), raw.bytes().size(), "x.gguf");
  return parse_start(cursor);
}

test::Raw start_with(std::uint32_t version, std::uint64_t n_tensors, std::uint64_t n_keys, std::size_t rest) {
  return test::Raw().text("GGUF").put(version).put(n_tensors).put(n_keys).zeros(rest);
}

}  // namespace

TEST_CASE("What is not GGUF is called by its name", "[gguf]") {
  const auto [text, message] = GENERATE(table<std::string_view, std::string_view>({
      {"", "x.gguf: is empty"},
      {"G", "has 1 bytes, too short"},
      {"GGUF", "has 4 bytes, too short"},
      {"GGUF\x03", "has 5 bytes, too short"},
      {"PK\x03\x04 and more", "starts with 'PK\\x03\\x04', not with GGUF"},
      {"GGML", "starts with 'GGML', not with GGUF"},
      {"X", "starts with 'X', not with GGUF"},
      {"<!DOCTYPE html><html>", "starts with '<!DOCTYPE', not with GGUF; it looks like a web page"},
      {"<!doctype html><html lang=\"en\">", "starts with '<!doctype', not with GGUF; it looks like a web page"},
      {"<html><head></head></html>", "starts with '<html', not with GGUF; it looks like a web page"},
      {"<?xml version='1.0'?>", "starts with '<?xml', not with GGUF; it looks like a web page"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0", "is a Git LFS pointer"},
  }));
  CHECK_THROWS_WITH(start_of(test::Raw().text(text)), Contains(std::string(message)));
}

TEST_CASE("Versions 2 and 3 are read, others explained", "[gguf]") {
  CHECK(start_of(start_with(2, 0, 0, 0)).version == 2);
  CHECK(start_of(start_with(3, 0, 0, 0)).version == 3);
  CHECK_THROWS_WITH(start_of(start_with(0, 0, 0, 0)), Contains("is GGUF version 0; versions 2 and 3 are supported"));
  CHECK_THROWS_WITH(start_of(start_with(1, 0, 0, 0)), Contains("version 1, which is obsolete"));
  CHECK_THROWS_WITH(start_of(start_with(4, 0, 0, 0)), Contains("is GGUF version 4"));
  CHECK_THROWS_WITH(start_of(start_with(0x03000000, 0, 0, 0)), Contains("big-endian"));
}

TEST_CASE("Counts must fit into the rest of the file", "[gguf]") {
  const Start start = start_of(start_with(3, 2, 3, 48));
  CHECK(start.n_tensors == 2);
  CHECK(start.n_keys == 3);
  CHECK_THROWS_WITH(start_of(start_with(3, 3, 0, 71)), Contains("claims 3 tensors, more than its remaining 71 bytes"));
  CHECK_THROWS_WITH(start_of(start_with(3, 0, 6, 83)), Contains("claims 6 keys, more than its remaining 83 bytes"));
  CHECK_THROWS_WITH(start_of(start_with(3, ~std::uint64_t{0}, 0, 0)), Contains("claims 18446744073709551615 tensors"));
  CHECK_THROWS_WITH(start_of(start_with(3, 0, std::uint64_t{1} << 63, 0)), Contains("claims 9223372036854775808 keys"));

  // A large file may claim much, but not anything.
  const auto raw = start_with(3, Limits::tensors + 1, 0, 0);
  Cursor cursor(raw.bytes(), 1_GiB, "x.gguf");
  CHECK_THROWS_WITH(parse_start(cursor), Contains("claims 131073 tensors, at most 131072 are allowed"));
}

}  // namespace lazymoe::gguf::detail
