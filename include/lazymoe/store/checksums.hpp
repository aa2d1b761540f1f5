#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"

namespace lazymoe::store {

/// A 64-bit checksum of bytes: for faults of disks and memory, not against malice. Four chains of a multiplication and a
/// shift each, so that it keeps up with memory; every chain step is a bijection of the state, so that no single
/// changed word goes unnoticed.
///
/// @unit independent of the machine's byte order only among little-endian machines
[[nodiscard]] inline std::uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  // Odd constants: multiplication by them is invertible. The golden ratio's and the square roots' of 2, 3, 5 and 7.
  constexpr std::array<std::uint64_t, 5> odd{0x9E3779B97F4A7C15U, 0x6A09E667F3BCC909U, 0xBB67AE8584CAA73BU,
                                             0x3C6EF372FE94F82BU, 0xA54FF53A5F1D36F1U};
  const auto mix = [](std::uint64_t x) { return x ^ (x >> 32); };
  std::array<std::uint64_t, 4> chains{odd[1], odd[2], odd[3], odd[4]};
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    std::array<std::uint64_t, 4> words;
    std::memcpy(words.data(), bytes.data() + at, 32);
    for (std::size_t i = 0; i < 4; ++i) chains[i] = mix((chains[i] ^ words[i]) * odd[0]);
  }
  std::array<std::uint64_t, 4> rest{};
  if (at < bytes.size()) std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
  std::uint64_t sum = bytes.size() * odd[0];
  for (std::size_t i = 0; i < 4; ++i) sum = mix((sum ^ mix((chains[i] ^ rest[i]) * odd[0])) * odd[i + 1]);
  return sum;
}

/// Checksums of the reads that bring experts, so that a bit that flips on the way from the disk is caught: those of
/// first reads, or of a file that keeps them.
///
/// @memory 24 bytes per key of the key space
/// @thread safe
class Checksums {
 public:
  static constexpr std::size_t reads_per_expert = 3;

  explicit Checksums(KeySpace space) : space_(space), sums_(space.size() * reads_per_expert) {}

  /// True if `sum` is what is known of read `i` of the expert; if nothing is, it is from now on.
  [[nodiscard]] bool agrees(ExpertKey key, std::size_t i, std::uint64_t sum) noexcept {
    sum = std::max(sum, unknown + 1);
    std::uint64_t known = unknown;
    return sums_[index(key) * reads_per_expert + i].compare_exchange_strong(known, sum) || known == sum;
  }

  /// How many reads are known.
  [[nodiscard]] std::size_t n_known() const noexcept {
    return static_cast<std::size_t>(std::ranges::count_if(sums_, [](const auto& sum) { return sum != unknown; }));
  }

  /// As the text of a file: a line "layer expert read sum" for each that is known.
  [[nodiscard]] std::string text() const {
    std::string text = "# layer expert read checksum\n";
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const std::uint64_t sum = sums_[i];
      if (sum == unknown) continue;
      const ExpertKey key{static_cast<std::uint32_t>(i / reads_per_expert)};
      text += std::to_string(space_.layer(key)) + ' ' + std::to_string(space_.expert(key)) + ' ' +
              std::to_string(i % reads_per_expert) + ' ' + std::to_string(sum) + '\n';
    }
    return text;
  }

  /// Takes what such a text says.
  /// @throws Error{bad_argument} naming the file and the line that is no such line
  void parse(std::string_view text, std::string_view file) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      if (line.empty() || line[0] == '#') continue;
      std::array<std::uint64_t, 4> numbers{};
      const char* at = line.data();
      const char* const end = line.data() + line.size();
      bool good = true;
      for (std::uint64_t& n : numbers) {
        const auto [next, failure] = std::from_chars(at, end, n);
        good = good && failure == std::errc{} && (&n == &numbers.back() ? next == end : next != end && *next == ' ');
        at = next == end ? end : next + 1;
      }
      const auto [layer, expert, read, sum] = numbers;
      if (!good || layer >= space_.layers || expert >= space_.experts || read >= reads_per_expert || sum == unknown) {
        throw Error(Errc::bad_argument, std::string(file) + ": line " + std::to_string(number) +
                                            " is not \"layer expert read checksum\" of this model");
      }
      const ExpertKey key = space_.key(static_cast<LayerIndex>(layer), static_cast<ExpertIndex>(expert));
      sums_[index(key) * reads_per_expert + read] = sum;
    }
  }

 private:
  static constexpr std::uint64_t unknown = 0;

  KeySpace space_;
  std::vector<std::atomic<std::uint64_t>> sums_;  ///< by key and read
};

}  // namespace lazymoe::store
