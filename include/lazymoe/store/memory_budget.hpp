#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../core/units.hpp"

namespace lazymoe::store {

/// One account for all the memory of a program: what is resident whatever happens is reserved first, and experts get the
/// rest. Two models may share one.
class MemoryBudget {
 public:
  struct Entry {
    std::string what;
    Bytes bytes = 0;
  };

  explicit MemoryBudget(Bytes total) : total_(total) {}

  [[nodiscard]] Bytes total() const noexcept { return total_; }
  [[nodiscard]] Bytes reserved() const noexcept { return reserved_; }
  [[nodiscard]] Bytes left() const noexcept { return total_ - reserved_; }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

  /// @throws Error{over_budget} with the arithmetic, if that is more than is left
  void reserve(std::string what, Bytes bytes) {
    if (bytes > left()) refuse(what, bytes);
    reserved_ += bytes;
    entries_.push_back({std::move(what), bytes});
  }

  /// All that is left, if it is at least `least`.
  /// @throws Error{over_budget} with the arithmetic, if it is not
  Bytes reserve_rest(std::string what, Bytes least) {
    const Bytes rest = left();
    if (rest < least) refuse(what, least);
    reserve(std::move(what), rest);
    return rest;
  }

 private:
  [[noreturn]] void refuse(std::string_view what, Bytes bytes) const {
    std::string sum;
    for (const Entry& e : entries_) sum += e.what + " " + format_bytes(e.bytes) + " + ";
    throw Error(Errc::over_budget, "the memory of " + format_bytes(total_) + " is too little: " + sum +
                                       std::string(what) + " " + format_bytes(bytes) + " = " +
                                       format_bytes(bytes > ~Bytes{0} - reserved_ ? ~Bytes{0} : reserved_ + bytes));
  }

  Bytes total_;
  Bytes reserved_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace lazymoe::store
