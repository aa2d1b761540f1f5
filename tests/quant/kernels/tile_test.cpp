#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/kernels/tile.hpp>
#include <random>
#include <vector>

#include "quant/kernel_laws.hpp"
#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

namespace {

/// Blocks of one byte, whose products are plain integers: the least that BlockDot must say.
struct Bytes {
  static constexpr TypeId id = TypeId{60};
  static constexpr std::string_view name = "bytes";
  static constexpr std::size_t block_elems = 1;
  static constexpr ActivationKind activation = ActivationKind::f32;
  struct Block {
    std::uint8_t q;
  };
  static constexpr void decode(const Block& block, std::span<float, 1> out) noexcept { out[0] = block.q; }
};

struct TestArch {};

}  // namespace

template <>
struct lazymoe::quant::BlockDot<Bytes, TestArch> {
  static constexpr std::size_t chains = 2;
  static constexpr std::size_t steps = 1;
  using Products = float;
  struct Step {
    float q;
    [[nodiscard]] float add(float so_far, const float* y) const noexcept { return so_far + q * *y; }
  };
  struct Weights {
    explicit Weights(const Bytes::Block& block) noexcept : q(block.q) {}
    template <std::size_t>
    [[nodiscard]] Step step() const noexcept {
      return {q};
    }
    float q;
  };
  struct Sums {
    void add(const Weights&, float products, const float*) noexcept { sum += products; }
    [[nodiscard]] float total(const Sums& odd) const noexcept { return 1000 * sum + odd.sum; }
    float sum = 0;
  };
};

TEST_CASE("blocks add to their chain, and chains are added at the end", "[quant][kernels]") {
  const std::vector<Bytes::Block> row{{1}, {2}, {3}, {4}, {5}};
  const std::array<float, 5> x{1, 1, 1, 1, 10};
  using Kernel = IntDotKernel<Bytes, TestArch>;
  CHECK(Kernel::run(row, x.data()) == 1000 * (1 + 3 + 50) + (2 + 4));
  CHECK(Kernel::run(std::span(row).first(4), x.data()) == 1000 * (1 + 3) + (2 + 4));
  CHECK(Kernel::run({}, x.data()) == 0);
}

TEST_CASE("a tile is its rows times its activations", "[quant][kernels]") {
  const std::vector<Bytes::Block> rows{{1}, {2}, {10}, {20}};
  const std::array<float, 6> x{1, 1, 3, 0, 0, 5};
  const auto totals = IntDotKernel<Bytes, TestArch>::tile<2, 3>({rows.data(), rows.data() + 2},
                                                                {x.data(), x.data() + 2, x.data() + 4}, 2);
  CHECK(totals == Totals<2, 3>{{{1002, 3000, 10}, {10020, 30000, 100}}});
}

TEST_CASE("a block that meets one activation may be made ready in a way of its own", "[quant][kernels]") {
  STATIC_REQUIRE(
      std::is_same_v<detail::WeightsFor<BlockDot<Bytes, TestArch>, 1>::type, BlockDot<Bytes, TestArch>::Weights>);
#if defined(__AVX2__)
  using Dot = BlockDot<Q4_0, simd::DefaultArch>;
  STATIC_REQUIRE(std::is_same_v<detail::WeightsFor<Dot, 1>::type, Dot::WeightsOfOne>);
  STATIC_REQUIRE(std::is_same_v<detail::WeightsFor<Dot, 2>::type, Dot::Weights>);
#endif
}

TEST_CASE("formats without a description are multiplied by the reference alone", "[quant][kernels]") {
  STATIC_REQUIRE(HasTiles<Bytes, TestArch>);
  STATIC_REQUIRE_FALSE(HasTiles<Bytes, simd::Scalar>);
  STATIC_REQUIRE_FALSE(HasBlockDot<Q4_K, simd::Scalar>);
}
