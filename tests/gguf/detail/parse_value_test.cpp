#include <cstdint>
#include <lazymoe/gguf/detail/parse_value.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gguf/raw_gguf.hpp"
#include "support/catch.hpp"

namespace lazymoe::gguf::detail {
namespace {

using Catch::Matchers::Contains;
using test::Raw;

Value value_of(const Raw& raw) {
  Cursor cursor(raw.bytes(), raw.bytes().size(), "x.gguf");
  return parse_value(cursor, "key 'k'");
}

Raw of_type(std::uint32_t type) { return Raw().put(type); }
Raw array_of(std::uint32_t type, std::uint64_t n) { return Raw().put(std::uint32_t{9}).put(type).put(n); }

template <class T>
void check_number(std::uint32_t type, T value, const std::string& text) {
  const Value scalar = value_of(of_type(type).put(value));
  CHECK(std::get<T>(scalar.storage()) == value);
  CHECK(scalar.type() == static_cast<ValueType>(type));
  CHECK(scalar.describe_type() == text);

  const Value array = value_of(array_of(type, 2).put(value).put(T{0}));
  CHECK(std::get<std::vector<T>>(array.storage()) == std::vector<T>{value, T{0}});
  CHECK(array.type() == ValueType::array);

  CHECK_THROWS_WITH(value_of(array_of(type, 2).put(value)), Contains("ends within key 'k'"));
}

}  // namespace

TEST_CASE("Every number of the format is read in its own width", "[gguf]") {
  check_number<std::uint8_t>(0, 200, "u8 200");
  check_number<std::int8_t>(1, -100, "i8 -100");
  check_number<std::uint16_t>(2, 60000, "u16 60000");
  check_number<std::int16_t>(3, -30000, "i16 -30000");
  check_number<std::uint32_t>(4, 4000000000U, "u32 4000000000");
  check_number<std::int32_t>(5, -2000000000, "i32 -2000000000");
  check_number<float>(6, 0.5F, "f32 0.5");
  check_number<std::uint64_t>(10, ~std::uint64_t{0}, "u64 18446744073709551615");
  check_number<std::int64_t>(11, std::numeric_limits<std::int64_t>::min(), "i64 -9223372036854775808");
  check_number<double>(12, 1e-6, "f64 1e-06");
}

TEST_CASE("Bools are 0 or 1", "[gguf]") {
  CHECK(value_of(of_type(7).put(std::uint8_t{1})).as<bool>() == true);
  CHECK(value_of(of_type(7).put(std::uint8_t{0})).as<bool>() == false);
  CHECK(value_of(array_of(7, 2).text(std::string_view("\1\0", 2))).as_array<bool>() == std::vector{true, false});
  CHECK_THROWS_WITH(value_of(of_type(7).put(std::uint8_t{2})), Contains("key 'k' has a bool of 2, expected 0 or 1"));
  CHECK_THROWS_WITH(value_of(array_of(7, 1).text("\xFF")), Contains("key 'k' has a bool of 255"));
}

TEST_CASE("Strings and arrays of strings are read", "[gguf]") {
  CHECK(value_of(of_type(8).string("qwen3moe")).as<std::string_view>() == "qwen3moe");
  CHECK(value_of(of_type(8).string("")).as<std::string_view>() == "");
  const Value array = value_of(array_of(8, 3).string("a").string("").string("bc"));
  CHECK(array.as_array<std::string_view>() == std::vector<std::string_view>{"a", "", "bc"});
}

TEST_CASE("Empty arrays are fine, impossible ones are not", "[gguf]") {
  CHECK(value_of(array_of(5, 0)).as_array<int>() == std::vector<int>{});
  CHECK(value_of(array_of(8, 0)).as_array<std::string_view>()->empty());
  CHECK_THROWS_WITH(value_of(array_of(0, std::uint64_t{1} << 40)), Contains("1099511627776 bytes wanted"));
  CHECK_THROWS_WITH(value_of(array_of(10, (std::uint64_t{1} << 61) + 1).put(std::uint64_t{0})),
                    Contains("2305843009213693953 elements wanted"));
  CHECK_THROWS_WITH(value_of(array_of(8, 2).string("a")), Contains("2 elements wanted"));
  CHECK_THROWS_WITH(value_of(array_of(8, 1).put(std::uint64_t{1} << 50)), Contains("1125899906842624 bytes wanted"));
  CHECK_THROWS_WITH(value_of(of_type(8).put(std::uint64_t{1} << 50)), Contains("1125899906842624 bytes wanted"));
  CHECK_THROWS_WITH(value_of(of_type(8).put(~std::uint64_t{0})), Contains("ends within key 'k'"));
}

TEST_CASE("Arrays and strings have limits that no large file lifts", "[gguf]") {
  const auto refuse = [](const Raw& raw, const std::string& message) {
    Cursor cursor(raw.bytes(), 1_GiB, "x.gguf");
    CHECK_THROWS_WITH(parse_value(cursor, "key 'k'"), Contains(message));
  };
  refuse(array_of(0, Limits::array_elems + 1), "has 16777217 elements, at most 16777216");
  refuse(of_type(8).put(std::uint64_t{Limits::string_bytes + 1}), "key 'k' is 67108865 bytes long, at most 67108864");
}

TEST_CASE("An array is not allocated before its bytes are there", "[gguf]") {
  const Raw raw = array_of(8, Limits::array_elems);
  Cursor cursor(raw.bytes(), 1_GiB, "x.gguf");
  Bytes needed = 0;
  try {
    (void)parse_value(cursor, "key 'k'");
  } catch (const Beyond& beyond) {
    needed = beyond.needed;
  }
  CHECK(needed == raw.bytes().size() + 8 * Limits::array_elems);  // not 8: every string has a length of its own
}

TEST_CASE("Unknown value types and nested arrays are refused", "[gguf]") {
  CHECK_THROWS_WITH(value_of(of_type(13).zeros(64)), Contains("key 'k' has the unknown value type 13"));
  CHECK_THROWS_WITH(value_of(of_type(~0U).zeros(64)), Contains("unknown value type 4294967295"));
  CHECK_THROWS_WITH(value_of(array_of(13, 0)), Contains("key 'k' has the unknown value type 13"));
  CHECK_THROWS_WITH(value_of(array_of(9, 1).put(std::uint32_t{0}).put(std::uint64_t{0})),
                    Contains("key 'k' is an array of arrays"));
}

TEST_CASE("Keys have names of their own", "[gguf]") {
  const auto keys_of = [](const Raw& raw, std::uint64_t n) {
    Cursor cursor(raw.bytes(), raw.bytes().size(), "x.gguf");
    Metadata metadata("x.gguf");
    for (std::uint64_t i = 0; i < n; ++i) parse_key(cursor, i, metadata);
    return metadata;
  };
  const auto key = [](std::string_view name) { return Raw().string(name).put(std::uint32_t{0}).put(std::uint8_t{1}); };

  CHECK(keys_of(key("a").append(key("b")), 2).require<int>("b") == 1);
  CHECK(keys_of(key("\xFF\xFE"), 1).contains("\xFF\xFE"));  // the reference does not ask for UTF-8 either
  CHECK_THROWS_WITH(keys_of(key("a").append(key("a")), 2), Contains("key 'a' appears twice"));
  CHECK_THROWS_WITH(keys_of(key(""), 1), Contains("key 0 is empty"));
  CHECK_THROWS_WITH(keys_of(key(std::string_view("a\0b", 3)), 1), Contains("key 0, 'a\\x00b', contains a NUL byte"));
  CHECK(keys_of(key(std::string(65535, 'a')), 1).size() == 1);
  CHECK_THROWS_WITH(keys_of(key(std::string(65536, 'a')), 1), Contains("key 0 is 65536 bytes long, at most 65535"));
}

}  // namespace lazymoe::gguf::detail
