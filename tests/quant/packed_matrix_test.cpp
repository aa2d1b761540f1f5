#include <cstddef>
#include <cstdint>
#include <cstring>
#include <lazymoe/quant/packed_matrix.hpp>
#include <span>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe::quant;

namespace {

constexpr std::size_t rows = 3;
constexpr std::size_t cols = 64;

/// W[3, 64] in Q8_0 whose quant of block b in row r is 10r + b, beginning at an odd address.
struct OddMatrix {
  std::vector<std::byte> storage = std::vector<std::byte>(1 + rows * row_bytes<Q8_0>(cols));
  PackedMatrix matrix{TypeId::q8_0, rows, cols, std::span(storage).subspan(1)};

  OddMatrix() {
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t b = 0; b < 2; ++b) {
        Q8_0::Block block{{0x3C00}, {}};
        block.q.fill(static_cast<std::int8_t>(10 * r + b));
        std::memcpy(storage.data() + 1 + (2 * r + b) * sizeof block, &block, sizeof block);
      }
    }
  }
};

}  // namespace

TEST_CASE("a packed matrix hands out its rows as bytes and as blocks", "[quant][packed_matrix]") {
  const OddMatrix odd;
  CHECK(odd.matrix.row_bytes() == 68);
  CHECK(odd.matrix.row(1).data() == odd.matrix.bytes.data() + 68);
  CHECK(odd.matrix.row(1).size() == 68);

  const auto blocks = odd.matrix.blocks<Q8_0>(2);
  REQUIRE(blocks.size() == 2);
  CHECK(int{blocks[1].q[31]} == 21);
  CHECK(to_float(blocks[1].d) == 1.0F);
}

TEST_CASE("a view of some rows is a packed matrix of its own", "[quant][packed_matrix]") {
  const OddMatrix odd;
  const auto view = odd.matrix.rows_view(1, 2);
  CHECK(view.rows == 2);
  CHECK(view.cols == cols);
  CHECK(view.bytes.size() == 136);
  CHECK(int{view.blocks<Q8_0>(0)[0].q[0]} == 10);
  CHECK(odd.matrix.rows_view(3, 0).bytes.empty());
}
