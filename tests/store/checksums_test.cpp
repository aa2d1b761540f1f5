#include <lazymoe/store/checksums.hpp>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::store {

TEST_CASE("A checksum tells every single flipped bit and every length", "[store][checksums]") {
  std::mt19937 random(3);
  std::vector<std::byte> bytes(150);
  for (auto& b : bytes) b = static_cast<std::byte>(random());
  std::set<std::uint64_t> seen;
  std::size_t n = 0;
  for (std::size_t length = 0; length <= bytes.size(); ++length, ++n) seen.insert(checksum(std::span(bytes).first(length)));
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit, ++n) {
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
    seen.insert(checksum(bytes));
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
  }
  CHECK(seen.size() == n);
}

TEST_CASE("A checksum of zeros knows how many there are", "[store][checksums]") {
  std::set<std::uint64_t> seen;
  const std::vector<std::byte> zeros(200);
  for (std::size_t n = 0; n <= zeros.size(); ++n) seen.insert(checksum(std::span(zeros).first(n)));
  CHECK(seen.size() == zeros.size() + 1);
}

TEST_CASE("The first sum of a read is believed, others must be equal", "[store][checksums]") {
  Checksums sums({.layers = 2, .experts = 3});
  CHECK(sums.agrees(ExpertKey{4}, 1, 77));
  CHECK(sums.agrees(ExpertKey{4}, 1, 77));
  CHECK_FALSE(sums.agrees(ExpertKey{4}, 1, 78));
  CHECK(sums.agrees(ExpertKey{4}, 2, 78));
  CHECK(sums.agrees(ExpertKey{3}, 1, 78));
  CHECK(sums.agrees(ExpertKey{3}, 2, 0));  // a sum like any other
  CHECK_FALSE(sums.agrees(ExpertKey{3}, 2, 5));
  CHECK(sums.n_known() == 4);
}

TEST_CASE("Checksums survive a file", "[store][checksums]") {
  constexpr KeySpace space{.layers = 2, .experts = 3};
  Checksums sums(space);
  CHECK(sums.agrees(ExpertKey{5}, 0, ~std::uint64_t{0}));
  CHECK(sums.agrees(ExpertKey{0}, 2, 12));
  Checksums read(space);
  read.parse(sums.text(), "sums");
  CHECK(read.text() == sums.text());
  CHECK_FALSE(read.agrees(ExpertKey{0}, 2, 13));
}

TEST_CASE("A line that is no checksum of the model is refused with its number", "[store][checksums]") {
  for (const std::string line : {"1 2 3 4", "2 0 0 4", "0 3 0 4", "0 0 0 0", "0 0 0", "0 0 0 4 ", "0 0 0 4 5", "a", "0  0 0 4",
                                 "0 0 0 99999999999999999999999", "-1 0 0 4"}) {
    CAPTURE(line);
    Checksums sums({.layers = 2, .experts = 3});
    const Error error = test::error_of([&] { sums.parse("# comment\n\n0 0 0 4\n" + line + "\n", "my.sums"); });
    CHECK(error.code() == Errc::bad_argument);
    CHECK(test::mentions(error, "my.sums: line 4"));
  }
}

}  // namespace lazymoe::store
