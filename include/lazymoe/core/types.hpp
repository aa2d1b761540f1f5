#pragma once

#include <cstddef>
#include <cstdint>

namespace lazymoe {

/// A number of bytes, in a file or in memory.
using Bytes = std::uint64_t;

/// Index of a token in the vocabulary; negative: none.
using TokenId = std::int32_t;
inline constexpr TokenId no_token = -1;

/// Index of a block of the model, counted from 0 over all blocks that run.
using LayerIndex = std::uint32_t;

/// Index of a routed expert within its layer.
using ExpertIndex = std::uint32_t;

/// One routed expert of one layer, numbered densely by its KeySpace.
enum class ExpertKey : std::uint32_t {};

[[nodiscard]] constexpr std::size_t index(ExpertKey key) noexcept { return static_cast<std::size_t>(key); }

/// The dense grid of all experts of a model: policies keep arrays over it instead of hash maps.
struct KeySpace {
  std::uint32_t layers = 0;
  std::uint32_t experts = 0;  ///< per layer

  [[nodiscard]] constexpr std::size_t size() const noexcept { return std::size_t{layers} * experts; }
  [[nodiscard]] constexpr ExpertKey key(LayerIndex layer, ExpertIndex expert) const noexcept {
    return ExpertKey{layer * experts + expert};
  }
  [[nodiscard]] constexpr LayerIndex layer(ExpertKey key) const noexcept {
    return static_cast<std::uint32_t>(key) / experts;
  }
  [[nodiscard]] constexpr ExpertIndex expert(ExpertKey key) const noexcept {
    return static_cast<std::uint32_t>(key) % experts;
  }

  friend constexpr bool operator==(const KeySpace&, const KeySpace&) = default;
};

inline namespace literals {
consteval Bytes operator""_KiB(unsigned long long n) { return n << 10; }
consteval Bytes operator""_MiB(unsigned long long n) { return n << 20; }
consteval Bytes operator""_GiB(unsigned long long n) { return n << 30; }
}  // namespace literals

}  // namespace lazymoe
