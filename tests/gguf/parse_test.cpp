#include <functional>
#include <lazymoe/gguf/parse.hpp>
#include <string>
#include <variant>
#include <vector>

#include "gguf/fixtures.hpp"
#include "gguf/raw_gguf.hpp"
#include "support/catch.hpp"

namespace lazymoe::gguf {
namespace {

using Catch::Matchers::Contains;
using test::Raw;
using test::RawGguf;

constexpr std::uint32_t f32 = 0;
constexpr std::uint32_t q8_0 = 8;

Header header_of(const std::vector<std::byte>& bytes) { return std::get<Header>(parse(bytes, bytes.size(), "x.gguf")); }

struct Case {
  std::string name;
  std::function<RawGguf()> file;
  std::string message;  ///< part of it; empty: accepted
};

}  // namespace

TEST_CASE("A written file is read back", "[gguf]") {
  const auto bytes = test::small_model().bytes();
  const Header header = header_of(bytes);
  CHECK(header.version == 3);
  CHECK(header.alignment == 64);
  CHECK(header.metadata.size() == 11);
  CHECK(header.metadata.file() == "x.gguf");
  CHECK(header.metadata.require<int>("i64") == -5);
  REQUIRE(header.tensors.size() == 2);

  const TensorInfo& a = header.tensors[0];
  CHECK(a.name == "a.weight");
  CHECK(a.shape_text() == "{64, 2}");
  CHECK(a.type == quant::TypeId::q8_0);
  CHECK(a.bytes == 136);
  CHECK(a.offset % 64 == 0);
  CHECK(a.offset >= header.bytes);
  CHECK(bytes[static_cast<std::size_t>(a.offset)] == std::byte{1});

  const TensorInfo& b = header.tensors[1];
  CHECK(b.offset == a.offset + 192);
  CHECK(bytes[static_cast<std::size_t>(b.offset)] == std::byte{2});
  CHECK(bytes[static_cast<std::size_t>(b.offset + b.bytes)] == std::byte{0});
}

TEST_CASE("The parser accepts what it should and says why it refuses the rest", "[gguf]") {
  const std::uint64_t huge = (std::uint64_t{1} << 62) - 1;
  const std::vector<Case> cases = {
      {"no keys and no tensors", [] { return RawGguf{}; }, ""},
      {"version 2", [] { return RawGguf{.version = 2, .keys = {}, .tensors = {}}.tensor("t", {4}, f32, 0); }, ""},
      {"version 1", [] { return RawGguf{.version = 1, .keys = {}, .tensors = {}}; }, "version 1, which is obsolete"},
      {"version 4", [] { return RawGguf{.version = 4, .keys = {}, .tensors = {}}; }, "is GGUF version 4"},
      {"four dimensions",
       [] {
         return RawGguf{}.tensor("t", {2, 2, 2, 2}, f32, 0);
       },
       ""},
      {"no dimensions", [] { return RawGguf{}.tensor("t", {}, f32, 0); }, "'t' has 0 dimensions, expected 1 to 4"},
      {"five dimensions",
       [] {
         return RawGguf{}.tensor("t", {1, 1, 1, 1, 1}, f32, 0);
       },
       "'t' has 5 dimensions"},
      {"a zero dimension",
       [] {
         return RawGguf{}.tensor("t", {4, 0}, f32, 0);
       },
       "tensor 't': a dimension is 0"},
      {"a negative dimension",
       [] {
         return RawGguf{}.tensor("t", {4, ~0ULL}, f32, 0);
       },
       "'t': dimension 1844"},
      {"dimensions that wrap to 0",
       [] {
         return RawGguf{}.tensor("t", {1ULL << 32, 1ULL << 32}, f32, 0);
       },
       "'t': the number of elements overflows"},
      {"dimensions that wrap below 0",
       [] {
         return RawGguf{}.tensor("t", {(1ULL << 63) - 1, 2}, f32, 0);
       },
       "'t': the number of elements overflows"},
      {"a size whose padding wraps", [=] { return RawGguf{}.tensor("t", {huge}, f32, 0).tensor("u", {1}, f32, 0); },
       "tensor 't' has 18446744073709551612 bytes at offset 0 of the data section, which ends at 256"},
      {"rows of half a block", [] { return RawGguf{}.tensor("t", {48}, q8_0, 0); },
       "rows of 48 elements are not a multiple of the block of Q8_0, 32"},
      {"an activation type", [] { return RawGguf{.payload = 320, .keys = {}, .tensors = {}}.tensor("t", {256}, 15, 0); }, ""},
      {"numbers that are no weights", [] { return RawGguf{}.tensor("t", {7}, 26, 0); }, ""},
      {"a removed type", [] { return RawGguf{}.tensor("t", {256}, 4, 0); }, "'t': type 4 (Q4_2) was removed"},
      {"an unknown type", [] { return RawGguf{}.tensor("t", {256}, 43, 0); }, "'t': type 43 is unknown"},
      {"a tensor twice", [] { return RawGguf{}.tensor("t", {1}, f32, 0).tensor("t", {1}, f32, 32); },
       "tensor 't' appears twice"},
      {"a key twice", [] { return RawGguf{}.u32_key("k", 1).u32_key("k", 1); }, "key 'k' appears twice"},
      {"a gap between tensors", [] { return RawGguf{}.tensor("t", {1}, f32, 0).tensor("u", {1}, f32, 96); }, ""},
      {"tensors in any order", [] { return RawGguf{}.tensor("t", {1}, f32, 64).tensor("u", {1}, f32, 0); }, ""},
      {"touching tensors", [] { return RawGguf{}.tensor("t", {8}, f32, 32).tensor("u", {8}, f32, 0); }, ""},
      {"overlapping tensors", [] { return RawGguf{}.tensor("t", {9}, f32, 0).tensor("u", {1}, f32, 32); },
       "tensors 't' and 'u' overlap"},
      {"two tensors at one place", [] { return RawGguf{}.tensor("t", {1}, f32, 0).tensor("u", {1}, f32, 0); },
       "overlap"},
      {"a name of 63 bytes", [] { return RawGguf{}.tensor(std::string(63, 'n'), {1}, f32, 0); }, ""},
      {"a name of 64 bytes", [] { return RawGguf{}.tensor(std::string(64, 'n'), {1}, f32, 0); },
       "the name of tensor 0 is 64 bytes long, at most 63"},
      {"an empty name", [] { return RawGguf{}.tensor("", {1}, f32, 0); }, "tensor 0 has an empty name"},
      {"a NUL in a name", [] { return RawGguf{}.tensor(std::string_view("a\0b", 3), {1}, f32, 0); },
       "tensor 'a\\x00b' has a NUL byte in its name"},
      {"an empty key", [] { return RawGguf{}.u32_key("", 1); }, "key 0 is empty"},
      {"a key that is not UTF-8", [] { return RawGguf{}.u32_key("\xFF", 1); }, ""},
      {"an unknown value type", [] { return RawGguf{}.key("k", 13, Raw()); }, "'k' has the unknown value type 13"},
      {"a nested array", [] { return RawGguf{}.key("k", 9, Raw().put(std::uint32_t{9}).put(std::uint64_t{0})); },
       "array of arrays"},
      {"a bool of 2", [] { return RawGguf{}.key("k", 7, Raw().put(std::uint8_t{2})); }, "'k' has a bool of 2"},
      {"an empty array", [] { return RawGguf{}.key("k", 9, Raw().put(std::uint32_t{4}).put(std::uint64_t{0})); }, ""},
      {"an array of 2^40 bytes",
       [] { return RawGguf{}.key("k", 9, Raw().put(std::uint32_t{0}).put(std::uint64_t{1} << 40)); },
       "ends within key 'k': 1099511627776 bytes wanted"},
      {"a string of 2^50 bytes", [] { return RawGguf{}.key("k", 8, Raw().put(std::uint64_t{1} << 50)); },
       "ends within key 'k': 1125899906842624 bytes wanted"},
      {"alignment 1",
       [] {
         return RawGguf{.alignment = 1, .keys = {}, .tensors = {}}
             .u32_key("general.alignment", 1)
             .tensor("t", {1}, f32, 3);
       },
       ""},
      {"alignment 4",
       [] {
         return RawGguf{.alignment = 4, .keys = {}, .tensors = {}}
             .u32_key("general.alignment", 4)
             .tensor("t", {1}, f32, 4);
       },
       ""},
      {"alignment 0", [] { return RawGguf{}.u32_key("general.alignment", 0); }, "is 0, not a power of two"},
      {"alignment 24", [] { return RawGguf{}.u32_key("general.alignment", 24); }, "is 24, not a power of two"},
      {"alignment as u64", [] { return RawGguf{}.key("general.alignment", 10, Raw().put(std::uint64_t{32})); },
       "key 'general.alignment' is u64 32, expected a u32"},
      {"alignment 2^31, no room for data",
       [] { return RawGguf{}.u32_key("general.alignment", 1U << 31).tensor("t", {1}, f32, 0); },
       "data section, which ends at 0"},
      {"an offset out of line", [] { return RawGguf{}.tensor("t", {1}, f32, 16); },
       "tensor 't' has the offset 16, not a multiple of the alignment 32"},
      {"data that ends with the file", [] { return RawGguf{}.tensor("t", {64}, f32, 0); }, ""},
      {"data missing from the file", [] { return RawGguf{}.tensor("t", {65}, f32, 0); },
       "has 260 bytes at offset 0 of the data section, which ends at 256; the file is cut short"},
      {"an offset beyond the file", [] { return RawGguf{}.tensor("t", {1}, f32, ~0ULL - 31); }, "cut short"},
      {"trailing bytes", [] { return RawGguf{.payload = 5000, .keys = {}, .tensors = {}}.tensor("t", {1}, f32, 0); },
       ""},
      {"2^40 tensors", [] { return RawGguf{.n_tensors = 1ULL << 40, .keys = {}, .tensors = {}}; },
       "claims 1099511627776 tensors"},
      {"2^60 keys", [] { return RawGguf{.n_keys = 1ULL << 60, .keys = {}, .tensors = {}}; },
       "claims 1152921504606846976 keys"},
      {"one key too few", [] { return RawGguf{.n_keys = 2, .payload = 0, .keys = {}, .tensors = {}}.u32_key("k", 1); },
       "key 1 is empty"},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const auto bytes = each.file().bytes();
    if (each.message.empty()) {
      CHECK_NOTHROW(header_of(bytes));
    } else {
      CHECK_THROWS_AS(header_of(bytes), Error);
      CHECK_THROWS_WITH(header_of(bytes), Contains(each.message));
    }
  }
}

TEST_CASE("A file cut anywhere is refused", "[gguf]") {
  auto bytes = test::small_model().bytes();
  const Header whole = header_of(bytes);
  const auto payload_end = static_cast<std::size_t>(whole.tensors[1].offset + whole.tensors[1].bytes);
  // Missing padding behind the last tensor is forgiven, a missing byte of it is not.
  bytes.resize(payload_end);
  CHECK_NOTHROW(header_of(bytes));
  while (!bytes.empty()) {
    bytes.pop_back();
    CAPTURE(bytes.size());
    CHECK_THROWS_AS(header_of(bytes), Error);
  }
}

TEST_CASE("From any beginning of a file the parser asks for more, and for no more than the header", "[gguf]") {
  const auto bytes = test::small_model().bytes();
  const Header whole = header_of(bytes);
  for (std::size_t given = 0; given < bytes.size(); ++given) {
    const auto result = parse(std::span(bytes).first(given), bytes.size(), "x.gguf", 7);
    CAPTURE(given);
    if (given < whole.bytes) {
      REQUIRE(std::holds_alternative<NeedMore>(result));
      CHECK(std::get<NeedMore>(result).bytes > given);
      CHECK(std::get<NeedMore>(result).bytes <= whole.bytes);
    } else {
      REQUIRE(std::holds_alternative<Header>(result));
      CHECK(std::get<Header>(result).tensors[1].offset == whole.tensors[1].offset);
      CHECK(std::get<Header>(result).tensors[1].shard == 7);
    }
  }
}

TEST_CASE("A flipped byte is either harmless or an Error", "[gguf]") {
  const auto original = test::small_model().bytes();
  int refused = 0;
  for (std::size_t at = 0; at < original.size(); ++at) {
    for (const unsigned flip : {0x01U, 0x02U, 0x80U, 0xFFU}) {
      auto bytes = original;
      bytes[at] ^= static_cast<std::byte>(flip);
      try {
        for (const auto& tensor : header_of(bytes).tensors) {
          if (tensor.offset + tensor.bytes > bytes.size()) FAIL("tensor outside the file after flipping byte " << at);
        }
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 100);
}

}  // namespace lazymoe::gguf
