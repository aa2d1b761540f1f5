#include <lazymoe/cache/hot_set.hpp>

#include <array>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::cache {
namespace {

constexpr KeySpace space{.layers = 2, .experts = 3};

}  // namespace

TEST_CASE("The hottest keys are those used most, ties to the lower key", "[cache][hot_set]") {
  const std::array<std::uint64_t, 6> uses{5, 0, 7, 5, 1, 0};
  CHECK(hottest(uses, 3) == std::vector{space.key(0, 2), space.key(0, 0), space.key(1, 0)});
  CHECK(hottest(uses, 100).size() == 4);
  CHECK(hottest({}, 3).empty());
}

TEST_CASE("A hot set survives being written and read", "[cache][hot_set]") {
  const std::vector keys{space.key(1, 2), space.key(0, 0), space.key(1, 0)};
  const std::string text = hot_set_text(space, keys);
  CHECK(text == "# layer expert\n1 2\n0 0\n1 0\n");
  CHECK(parse_hot_set(text, space, "hot.txt") == keys);
}

TEST_CASE("A hot set may have comments, blanks and no last line end", "[cache][hot_set]") {
  CHECK(parse_hot_set("\n \t1\t2  # mine\r\n#\n0 1\r\n1 1", space, "hot.txt") ==
        std::vector{space.key(1, 2), space.key(0, 1), space.key(1, 1)});
  CHECK(parse_hot_set("", space, "hot.txt").empty());
}

TEST_CASE("A line of a hot set that is no expert is refused by its number", "[cache][hot_set]") {
  const std::string line =
      GENERATE("2 0", "0 3", "0", "0 1 2", "-1 0", "0 x", "x", "0 1x", "0,1", "99999999999 0", "0 99999999999");
  CAPTURE(line);
  const Error error = test::error_of([&] { (void)parse_hot_set("0 0\n\n" + line + "\n1 1\n", space, "hot.txt"); });
  CHECK(error.code() == Errc::bad_argument);
  CHECK(std::string(error.what()) ==
        "hot.txt: line 3 is not \"layer expert\" with a layer below 2 and an expert below 3");
}

}  // namespace lazymoe::cache
