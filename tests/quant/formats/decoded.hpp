#pragma once

#include <array>
#include <lazymoe/quant/format.hpp>

namespace lazymoe::test {

/// The weights of one block.
template <quant::BlockFormat F>
constexpr std::array<float, F::block_elems> decoded(const typename F::Block& block) noexcept {
  std::array<float, F::block_elems> w{};
  F::decode(block, w);
  return w;
}

}  // namespace lazymoe::test
