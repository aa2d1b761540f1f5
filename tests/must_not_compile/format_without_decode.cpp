#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <lazymoe/quant/format.hpp>

namespace {

struct Nibbles {
  struct Block {
    std::array<std::uint8_t, 16> q;
  };
  static constexpr auto id = lazymoe::quant::TypeId{900};
  static constexpr std::string_view name = "Nibbles";
  static constexpr std::size_t block_elems = 32;
  static constexpr auto activation = lazymoe::quant::ActivationKind::f32;
#ifndef LAZYMOE_MISUSE
  static void decode(const Block&, std::span<float, 32>) noexcept {}
#endif
};

}  // namespace

std::size_t bytes_of_a_row();

std::size_t bytes_of_a_row() { return lazymoe::quant::row_bytes<Nibbles>(64); }

// expected: F::decode(block, out)
