#include <lazymoe/quant/formats/detail/grid_words.hpp>

#include <algorithm>

#include "support/catch.hpp"

namespace lazymoe::quant::detail {
namespace {

/// The published grids name each of their entries once, in order; a word that was mistyped seldom keeps to that.
template <class Words>
bool strictly_ascending(const Words& words) {
  return std::ranges::adjacent_find(words, [](auto a, auto b) { return a >= b; }) == words.end();
}

}  // namespace

TEST_CASE("Every grid names each of its entries once, in ascending order", "[quant]") {
  CHECK(strictly_ascending(iq2_xxs_words));
  CHECK(strictly_ascending(iq2_xs_words));
  CHECK(strictly_ascending(iq2_s_words));
  CHECK(strictly_ascending(iq3_xxs_words));
  CHECK(strictly_ascending(iq3_s_words));
  CHECK(strictly_ascending(iq1_s_words));
}

TEST_CASE("No word of a grid of three values uses the fourth", "[quant]") {
  const auto fits = [](auto word) {
    for (; word != 0; word = static_cast<decltype(word)>(word >> 2)) {
      if ((word & 3U) == 3U) return false;
    }
    return true;
  };
  CHECK(std::ranges::all_of(iq2_xxs_words, fits));
  CHECK(std::ranges::all_of(iq2_xs_words, fits));
  CHECK(std::ranges::all_of(iq2_s_words, fits));
  CHECK(std::ranges::all_of(iq1_s_words, fits));
}

}  // namespace lazymoe::quant::detail
