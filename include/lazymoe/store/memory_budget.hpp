#pragma once

#include <cstddef>
#include <span>
#include <string>
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
    reserve({{std::move(what), bytes}});
  }

  /// All of `entries` or none.
  /// @throws Error{over_budget} with the arithmetic of all, if they are more than is left
  void reserve(std::vector<Entry> entries) {
    if (sum(entries) > left()) refuse(entries);
    reserved_ += sum(entries);
    for (Entry& entry : entries) entries_.push_back(std::move(entry));
  }

  /// All that is left, if it is at least `least`.
  /// @throws Error{over_budget} with the arithmetic, if it is not
  Bytes reserve_rest(std::string what, Bytes least) { return reserve_rest({}, std::move(what), least); }

  /// All of `entries`, and for `what` all that is left then, if it is at least `least`; or nothing.
  /// @throws Error{over_budget} with the arithmetic of all, if it is not
  Bytes reserve_rest(std::vector<Entry> entries, std::string what, Bytes least) {
    entries.push_back({std::move(what), least});
    if (sum(entries) > left()) refuse(entries);
    Bytes& rest = entries.back().bytes;
    rest += left() - sum(entries);
    reserve(entries);
    return rest;
  }

 private:
  /// The largest number if there is no larger one.
  [[nodiscard]] static Bytes sum(std::span<const Entry> entries) noexcept {
    Bytes total = 0;
    for (const Entry& e : entries) total = e.bytes > ~Bytes{0} - total ? ~Bytes{0} : total + e.bytes;
    return total;
  }

  [[noreturn]] void refuse(std::span<const Entry> wanted) const {
    std::vector<Entry> all = entries_;
    all.insert(all.end(), wanted.begin(), wanted.end());
    std::string text;
    for (const Entry& e : all) text += (text.empty() ? "" : " + ") + e.what + " " + format_bytes(e.bytes);
    throw Error(Errc::over_budget, "the memory of " + format_bytes(total_) + " is too little: " + text + " = " +
                                       format_bytes(sum(all)));
  }

  Bytes total_;
  Bytes reserved_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace lazymoe::store
