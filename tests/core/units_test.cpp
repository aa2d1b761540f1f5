#include <lazymoe/core/units.hpp>

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
  for (const char* text : {"", "GiB", "-1", "1 furlong", "nan", "inf", "1e30", "12experts"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(parse_bytes(text), Catch::Matchers::Contains(std::string("'") + text + "' is not a number of bytes"));
  }
}

}  // namespace lazymoe
