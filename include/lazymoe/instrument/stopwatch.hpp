#pragma once

#include <chrono>
#include <cstdint>

namespace lazymoe::instrument {

/// Measures elapsed monotonic time from its construction.
class Stopwatch {
 public:
  /// @unit nanoseconds
  [[nodiscard]] std::uint64_t elapsed_ns() const noexcept { return between(start_, Clock::now()); }

  /// Starts again from zero and returns what had elapsed.
  /// @unit nanoseconds
  std::uint64_t restart_ns() noexcept {
    const auto now = Clock::now();
    const std::uint64_t elapsed = between(start_, now);
    start_ = now;
    return elapsed;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static std::uint64_t between(Clock::time_point from, Clock::time_point to) noexcept {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count());
  }

  Clock::time_point start_ = Clock::now();
};

}  // namespace lazymoe::instrument
