#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/formats/q8_0.hpp>
#include <lazymoe/quant/kernels/fetch_ahead.hpp>
#include <numeric>
#include <span>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe::quant;

// What is asked for lies beyond the row, and often beyond what the program owns: asking must do no harm.
TEST_CASE("every block of a row is visited once, in order", "[quant][kernels]") {
  for (const std::size_t n : {0U, 1U, 2U, 63U, 64U}) {
    CAPTURE(n);
    std::vector<Q8_0::Block> row(n);
    for (std::size_t b = 0; b < n; ++b) row[b].q.fill(static_cast<std::int8_t>(b));
    std::vector<int> visited;
    detail::each_block(std::span<const Q8_0::Block>(row), [&](const auto& block) { visited.push_back(block.q[31]); });
    std::vector<int> all(n);
    std::iota(all.begin(), all.end(), 0);
    CHECK(visited == all);
  }
}
