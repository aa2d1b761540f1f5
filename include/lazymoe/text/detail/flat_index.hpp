#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lazymoe::text::detail {

/// Spreads the bits of `x` over all 64.
/// @source Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014 (mix64)
[[nodiscard]] constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// A hash index over an array kept elsewhere: it stores positions only, the caller compares keys.
///
/// @memory 8 to 16 bytes per entry of `capacity`
class FlatIndex {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit FlatIndex(std::size_t capacity) : slots_(std::bit_ceil(2 * capacity + 1), none) {}

  /// The position for which `equals(position)` holds, or none.
  template <class Equals>
  [[nodiscard]] std::uint32_t find(std::uint64_t hash, Equals equals) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = hash & mask; slots_[i] != none; i = (i + 1) & mask) {
      if (equals(slots_[i])) return slots_[i];
    }
    return none;
  }

  /// @pre no more than `capacity` insertions
  void insert(std::uint64_t hash, std::uint32_t position) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    while (slots_[i] != none) i = (i + 1) & mask;
    slots_[i] = position;
  }

 private:
  std::vector<std::uint32_t> slots_;  // never more than half full, so that every search ends
};

}  // namespace lazymoe::text::detail
