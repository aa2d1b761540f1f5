#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/format.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "quant/golden.hpp"
#include "support/catch.hpp"

namespace lazymoe::test {

/// Checks the laws of a format that lies in files.
template <quant::BlockFormat F>
void check_format_laws() {
  using Block = typename F::Block;
  STATIC_REQUIRE(alignof(Block) == 1);  // law 1
  STATIC_REQUIRE(std::is_trivially_copyable_v<Block>);
  STATIC_REQUIRE(std::has_unique_object_representations_v<Block> || std::is_same_v<F, quant::F32>);  // no padding

  const auto blocks = read_golden<Block>(std::string(F::name) + ".blocks");
  const auto expected = read_golden<std::uint32_t>(std::string(F::name) + ".f32");
  REQUIRE(blocks.size() >= 8);
  REQUIRE(expected.size() == blocks.size() * F::block_elems);

  for (std::size_t b = 0; b < blocks.size(); ++b) {  // law 2
    CAPTURE(F::name, b);
    std::array<float, F::block_elems> out{};
    F::decode(blocks[b], out);
    const auto* const reference = expected.data() + b * F::block_elems;
    const auto differs = std::ranges::mismatch(out, std::span(reference, F::block_elems), {},
                                               [](float w) { return std::bit_cast<std::uint32_t>(w); });
    CHECK(differs.in1 == out.end());
  }
}

}  // namespace lazymoe::test
