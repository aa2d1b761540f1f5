#include <lazymoe/text/detail/strip.hpp>

#include "support/catch.hpp"

namespace lazymoe::text::detail {

TEST_CASE("strip() takes off every kind of space at both ends, as Python does", "[text][chat]") {
  CHECK(strip(" \u00A0\u3000\x1C a b\u2028\n") == "a b");
  CHECK(strip("\u200Ba\uFEFF") == "\u200Ba\uFEFF");
  CHECK(strip(" \t ").empty());
  CHECK(strip("").empty());
}

TEST_CASE("line ends are taken off alone", "[text][chat]") {
  CHECK(strip_newlines("\n\n a \n") == " a ");
  CHECK(strip_newlines_left("\n a\n") == " a\n");
  CHECK(strip_newlines_right("\n\n").empty());
  CHECK(after_last("a<b<c", "<") == "c");
  CHECK(after_last("abc", "<") == "abc");
}

}  // namespace lazymoe::text::detail
