#include <lazymoe/core/units.hpp>

#include <string>

#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("Bytes are written in the unit a person would choose", "[core]") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1023) == "1023 B");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(6_GiB) == "6.00 GiB");
  CHECK(format_bytes(~Bytes{0}) == "16384.00 PiB");
}

TEST_CASE("Bytes are read in powers of 1024 with an i and of 1000 without", "[core]") {
  CHECK(parse_bytes("300000") == 300000);
  CHECK(parse_bytes("6GiB") == 6_GiB);
  CHECK(parse_bytes("1.5 gb") == 1500000000);
  CHECK(parse_bytes("64k") == 64_KiB);
  CHECK(parse_bytes("0B") == 0);
}

TEST_CASE("What is not a number of bytes is refused by name", "[core]") {
  for (const char* text : {"", "GiB", "-1", "1 furlong", "nan", "inf", "-inf", "12experts", "1e400 furlongs", "6GiB 6GiB"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_bytes(text), Catch::Matchers::Contains(std::string("'") + text + "' is not a number of bytes"));
  }
}

TEST_CASE("More bytes than can be counted, and parts of one, are refused as such", "[core]") {
  for (const std::string text : {"1e30", "1e400", "99999999999GiB", "8388608TiB", "9223372036854775808"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_bytes(text), "'" + text + "' is out of range: the most is 8388607TiB");
  }
  CHECK(parse_bytes("8388607TiB") == (Bytes{1} << 63U) - (Bytes{1} << 40U));
  for (const std::string text : {"1.5", "0.1 b"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_bytes(text), "'" + text + "' is a fraction of a byte: it lacks a unit such as GiB");
  }
  CHECK(parse_bytes("1e3") == 1000);
}

}  // namespace lazymoe
