#pragma once

#include <cstdint>

namespace lazymoe::store::detail {

/// First come, first served. Takes no locks: the store calls it under its own.
class Turns {
 public:
  [[nodiscard]] std::uint64_t take() noexcept { return next_++; }
  [[nodiscard]] bool is(std::uint64_t turn) const noexcept { return served_ == turn; }
  /// The present turn is over. True if somebody waits for the next.
  bool end() noexcept { return ++served_ != next_; }

 private:
  std::uint64_t next_ = 0;
  std::uint64_t served_ = 0;
};

}  // namespace lazymoe::store::detail
