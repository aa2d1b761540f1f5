#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <lazymoe/quant/activation.hpp>
#include <lazymoe/quant/dot.hpp>

#include "support/catch.hpp"

namespace lazymoe::test {

/// The block's scale, of which the last byte of every word holds 4 bits on top.
inline void set_scale(quant::IQ1_M::Block& block, quant::Half d) {
  for (unsigned j = 0; j < 4; ++j) {
    auto& top = block.scales[j][1];
    top = static_cast<std::uint8_t>((top & 15) | ((d.bits >> (4 * j)) & 15) << 4);
  }
}

/// A block of random codes with scales of a usual size, of either sign.
template <quant::BlockFormat F>
typename F::Block random_block(std::mt19937& random) {
  typename F::Block block{};
  if constexpr (F::block_elems == 1) {
    const float value = std::uniform_real_distribution<float>(-2, 2)(random);
    if constexpr (std::is_same_v<F, quant::F32>) block.value = value;
    if constexpr (std::is_same_v<F, quant::F16>) block = quant::to_half(value);
    if constexpr (std::is_same_v<F, quant::BF16>) block = quant::to_bfloat16(value);
  } else {
    std::array<std::uint8_t, sizeof(block)> bytes;
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    std::memcpy(&block, bytes.data(), sizeof(block));
    const auto half = [&] { return quant::Half{static_cast<std::uint16_t>((random() & 0x83FF) | 0x2800)}; };
    if constexpr (requires { block.d; }) block.d = half();
    if constexpr (requires { block.dmin; }) block.dmin = half();
    if constexpr (requires { block.m; }) block.m = half();
    if constexpr (requires { block.e; }) block.e.bits = static_cast<std::uint8_t>(110 + random() % 20);
    if constexpr (std::is_same_v<F, quant::IQ1_M>) set_scale(block, half());
  }
  return block;
}

/// The block with all codes zero: what is left is the minimum or offset, or nothing.
template <quant::BlockFormat F>
std::array<float, F::block_elems> offsets(typename F::Block block) {
  std::array<float, F::block_elems> out{};
  if constexpr (requires { block.dmin; } || requires { block.m; }) {
    if constexpr (requires { block.q; }) block.q.fill(0);
    if constexpr (requires { block.low; }) block.low.fill(0);
    if constexpr (requires { block.high; }) block.high.fill(0);
    F::decode(block, out);
  }
  return out;
}

struct Exact {
  double sum = 0;
  double error = 0;  ///< what dot() promises
};

/// The sum in double precision over decoded values, and the bound of dot()'s comment.
template <quant::BlockFormat F>
Exact exact_dot(std::span<const typename F::Block> row, const std::vector<quant::ActivationBlock<F>>& x) {
  using Activation = quant::ActivationOf<F>;
  const std::size_t n = row.size() * F::block_elems;
  std::vector<float> y(n);
  for (std::size_t b = 0; b < x.size(); ++b) {
    const std::size_t at = b * Activation::block_elems;
    Activation::decode(x[b], std::span<float, Activation::block_elems>(y.data() + at, Activation::block_elems));
  }
  Exact exact;
  double yardstick = 0;
  std::array<float, F::block_elems> w{};
  for (std::size_t b = 0; b < row.size(); ++b) {
    F::decode(row[b], w);
    const auto offset = offsets<F>(row[b]);
    for (std::size_t i = 0; i < F::block_elems; ++i) {
      const double yi = y[b * F::block_elems + i];
      exact.sum += double{w[i]} * yi;
      yardstick += (std::abs(double{w[i]} - double{offset[i]}) + std::abs(double{offset[i]})) * std::abs(yi);
    }
    if constexpr (requires { x[b].s; }) {
      exact.error += std::abs(double{offset[0]}) * (std::abs(double{x[b].s}) * 0x1p-10 + 0x1p-24);
    }
  }
  exact.error += (static_cast<double>(n) + 4) * 0x1p-24 * yardstick;
  return exact;
}

/// Checks that every path is within the promised error of the exact sum.
template <quant::BlockFormat F, class Arch = simd::DefaultArch>
void check_error(std::span<const typename F::Block> row, const std::vector<quant::ActivationBlock<F>>& x) {
  const auto exact = exact_dot<F>(row, x);
  const double fast = quant::dot<F, Arch>(row, x.data());
  const double scalar = quant::dot<F, simd::Scalar>(row, x.data());
  CAPTURE(F::name, row.size(), exact.sum, exact.error, fast, scalar);
  CHECK(std::abs(fast - exact.sum) <= exact.error);
  CHECK(std::abs(scalar - exact.sum) <= exact.error);
}

template <quant::BlockFormat F>
std::vector<quant::ActivationBlock<F>> rounded(const std::vector<float>& x) {
  std::vector<quant::ActivationBlock<F>> out(x.size() / quant::ActivationOf<F>::block_elems);
  quant::quantize<F::activation>(x, out);
  return out;
}

/// Checks the laws of IntDotKernel for one format on one ISA.
template <quant::BlockFormat F, class Arch = simd::DefaultArch>
void check_kernel_laws() {
  using Block = typename F::Block;
  std::mt19937 random(5);
  std::normal_distribution<float> gauss;
  for (const std::size_t blocks : {1U, 2U, 3U, 8U, 64U}) {
    std::vector<Block> row(blocks);
    std::vector<float> x(blocks * F::block_elems);

    for (auto& b : row) b = random_block<F>(random);
    for (auto& v : x) v = gauss(random);
    check_error<F, Arch>(row, rounded<F>(x));  // law 1

    for (auto& v : x) v = std::exp(2 * gauss(random)) * (random() % 2 == 0 ? 1.0F : -1.0F);
    check_error<F, Arch>(row, rounded<F>(x));

    // Law 2: at an odd address, between bytes that would show.
    std::vector<std::byte> bytes(blocks * sizeof(Block) + 64, std::byte{0x7F});
    std::memcpy(bytes.data() + 1, row.data(), blocks * sizeof(Block));
    const std::span<const Block> moved(reinterpret_cast<const Block*>(bytes.data() + 1), blocks);
    const auto y = rounded<F>(x);
    CHECK(std::bit_cast<std::uint32_t>(quant::dot<F, Arch>(moved, y.data())) ==
          std::bit_cast<std::uint32_t>(quant::dot<F, Arch>(row, y.data())));

    std::ranges::fill(x, 0.0F);
    CHECK(quant::dot<F, Arch>(row, rounded<F>(x).data()) == 0.0F);
  }

  // All bits of the codes and small scales set against activations of one sign: the largest sums of integers.
  if constexpr (F::block_elems > 1) {
    for (const int fill : {0x00, 0x7F, 0x80, 0xFF}) {
      for (const float sign : {1.0F, -1.0F}) {
        auto block = random_block<F>(random);
        const auto scales = block;
        std::memset(static_cast<void*>(&block), fill, sizeof(block));
        if constexpr (requires { block.d; }) block.d = scales.d;
        if constexpr (requires { block.dmin; }) block.dmin = scales.dmin;
        if constexpr (requires { block.m; }) block.m = scales.m;
        if constexpr (requires { block.e; }) block.e = scales.e;
        if constexpr (std::is_same_v<F, quant::IQ1_M>) set_scale(block, F::scale(scales));
        const std::vector<Block> row(3, block);
        check_error<F, Arch>(row, rounded<F>(std::vector<float>(row.size() * F::block_elems, sign)));
      }
    }
  }
}

}  // namespace lazymoe::test
