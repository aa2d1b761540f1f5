#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "../core/joined_name.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// A disk to be imitated: requests wait at the same time, and then share one wire.
struct DiskModel {
  double bytes_per_second = std::numeric_limits<double>::infinity();
  std::chrono::nanoseconds latency{0};  ///< from a request until its first byte
};

/// Another storage, slowed down as if it read from a disk of given speed: for repeatable experiments.
///
/// @pre the storage itself is quicker than the disk that it imitates
template <StoragePolicy Storage>
class Throttled {
  static constexpr std::string_view prefix = "throttled-";

 public:
  static constexpr std::string_view name = JoinedName<prefix, Storage::name>::value;
  static constexpr bool blocks = true;

  /// As quick as the storage itself.
  explicit Throttled(std::span<const std::filesystem::path> paths) : Throttled(Storage(paths), {}) {}

  Throttled(Storage storage, DiskModel disk)
      : storage_(std::move(storage)), disk_(disk), wire_(std::make_unique<Wire>()) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) noexcept { return storage_.footprint(slice); }

  /// As the storage's, and over no sooner than the disk would have been.
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    const auto begin = Clock::now();
    const auto view = storage_.fetch(slice, scratch);
    std::this_thread::sleep_until(end_of(begin, slice.bytes));
    return view;
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Wire {
    std::mutex mutex;
    Clock::time_point free{};  ///< when the last byte asked for so far has passed
  };

  Clock::time_point end_of(Clock::time_point begin, Bytes bytes) {
    const std::chrono::duration<double> passing(static_cast<double>(bytes) / disk_.bytes_per_second);
    const std::lock_guard lock(wire_->mutex);
    wire_->free = std::max(wire_->free, begin + disk_.latency) + std::chrono::duration_cast<Clock::duration>(passing);
    return wire_->free;
  }

  Storage storage_;
  DiskModel disk_;
  std::unique_ptr<Wire> wire_;
};

}  // namespace lazymoe::storage
