#include <lazymoe/gguf/value.hpp>
#include <limits>

#include "support/catch.hpp"

namespace lazymoe::gguf {

static_assert(!std::is_constructible_v<Value, long long> && !std::is_constructible_v<Value, char>);

TEST_CASE("An integer is given in any width that holds it", "[gguf]") {
  const Value value = std::uint32_t{200};
  CHECK(value.as<std::uint8_t>() == 200);
  CHECK(value.as<std::int64_t>() == 200);
  CHECK_FALSE(value.as<std::int8_t>().has_value());
  CHECK(Value(std::int64_t{-1}).as<std::int8_t>() == -1);
  CHECK_FALSE(Value(std::int64_t{-1}).as<std::uint64_t>().has_value());
  CHECK_FALSE(Value(~std::uint64_t{0}).as<std::int64_t>().has_value());
}

TEST_CASE("A float is given from floats and integers, an integer never from a float", "[gguf]") {
  CHECK(Value(0.5F).as<double>() == 0.5);
  CHECK(Value(0.5).as<float>() == 0.5F);
  CHECK(Value(std::int8_t{-3}).as<float>() == -3.0F);
  CHECK_FALSE(Value(2.0F).as<int>().has_value());
  CHECK_FALSE(Value(1e300).as<float>().has_value());
  CHECK(Value(-std::numeric_limits<double>::infinity()).as<float>() == -std::numeric_limits<float>::infinity());
}

TEST_CASE("Bools, strings and numbers are never taken for one another", "[gguf]") {
  CHECK(Value(true).as<bool>() == true);
  CHECK_FALSE(Value(true).as<int>().has_value());
  CHECK_FALSE(Value(true).as<float>().has_value());
  CHECK_FALSE(Value(std::uint8_t{1}).as<bool>().has_value());
  CHECK(Value("7").as<std::string_view>() == "7");
  CHECK_FALSE(Value("7").as<int>().has_value());
  CHECK_FALSE(Value(std::int32_t{7}).as<std::string_view>().has_value());
}

TEST_CASE("Arrays convert element by element", "[gguf]") {
  const Value numbers = std::vector<std::int32_t>{1, 2, 300};
  CHECK(numbers.as_array<std::uint64_t>() == std::vector<std::uint64_t>{1, 2, 300});
  CHECK(numbers.as_array<float>() == std::vector<float>{1, 2, 300});
  CHECK_FALSE(numbers.as_array<std::uint8_t>().has_value());
  CHECK_FALSE(numbers.as_array<std::string_view>().has_value());
  CHECK_FALSE(numbers.as<int>().has_value());
  CHECK_FALSE(Value(std::int32_t{1}).as_array<int>().has_value());
  CHECK(Value(std::vector<bool>{true, false}).as_array<bool>() == std::vector<bool>{true, false});
}

TEST_CASE("Strings of an array lie back to back and come out one by one", "[gguf]") {
  const StringArray strings({"", "a", "", "bcd"});
  REQUIRE(strings.size() == 4);
  CHECK(strings[0].empty());
  CHECK(strings[1] == "a");
  CHECK(strings[2].empty());
  CHECK(strings[3] == "bcd");
  CHECK(strings[3].data() == strings[1].data() + 1);
}

TEST_CASE("Types are described in words", "[gguf]") {
  CHECK(Value(std::uint16_t{7}).describe_type() == "u16 7");
  CHECK(Value(1e300).describe_type() == "f64 1e+300");
  CHECK(Value(false).describe_type() == "bool 0");
  CHECK(Value("text").describe_type() == "string");
  CHECK(Value(std::vector<std::string>{"a", "b"}).describe_type() == "array of 2 string");
  CHECK(Value(std::vector<bool>{true}).describe_type() == "array of 1 bool");
  CHECK(type_name(ValueType{13}) == "unknown");
}

}  // namespace lazymoe::gguf
