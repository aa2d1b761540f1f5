#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "../core/contract.hpp"
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

/// Another storage, slowed down as if it read from a disk of given speed: for repeatable experiments. Asynchronous,
/// whatever the other is.
///
/// @pre the storage itself is quicker than the disk that it imitates
template <StoragePolicy Storage>
class Throttled {
  static constexpr std::string_view prefix = "throttled-";

 public:
  static constexpr std::string_view name = JoinedName<prefix, Storage::name>::value;

  /// As quick as the storage itself.
  explicit Throttled(std::span<const std::filesystem::path> paths) : Throttled(Storage(paths), {}) {}

  Throttled(Storage storage, DiskModel disk)
      : storage_(std::move(storage)), disk_(disk), state_(std::make_unique<State>()) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) noexcept { return storage_.footprint(slice); }

  /// As the storage's, and over no sooner than the disk would have been.
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) {
    return end({.slice = slice, .scratch = scratch, .due = due(slice.bytes)});
  }

  /// Begins a fetch. @pre as fetch, and scratch stays alive until next() has told of it
  void submit(const experts::SliceRef& slice, std::span<std::byte> scratch, std::uint64_t tag) {
    const auto when = due(slice.bytes);
    const std::lock_guard lock(state_->mutex);
    state_->under_way.push_back({.slice = slice, .scratch = scratch, .due = when, .tag = tag});
  }

  /// Blocks until the oldest is over. @pre there is one
  [[nodiscard]] Completed next() {
    auto oldest = take([](const Fetch&) { return true; });
    LAZYMOE_EXPECTS(oldest.has_value());
    return complete(*oldest);
  }

  /// The oldest, if it is over.
  [[nodiscard]] std::optional<Completed> poll() {
    const auto oldest = take([now = Clock::now()](const Fetch& fetch) { return fetch.due <= now; });
    if (!oldest) return std::nullopt;
    return complete(*oldest);
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct Fetch {
    experts::SliceRef slice;
    std::span<std::byte> scratch = {};
    Clock::time_point due{};
    std::uint64_t tag = 0;
  };

  struct State {
    std::mutex mutex;
    Clock::time_point free{};  ///< when the last byte asked for so far has passed the wire
    std::deque<Fetch> under_way;
  };

  /// When what is asked for now will have passed the wire.
  [[nodiscard]] Clock::time_point due(Bytes bytes) {
    const auto now = Clock::now();
    const std::chrono::duration<double> passing(static_cast<double>(bytes) / disk_.bytes_per_second);
    const std::lock_guard lock(state_->mutex);
    state_->free = std::max(state_->free, now + disk_.latency) + std::chrono::duration_cast<Clock::duration>(passing);
    return state_->free;
  }

  /// The oldest fetch under way, if it is such a one.
  template <class Such>
  [[nodiscard]] std::optional<Fetch> take(Such&& such) {
    const std::lock_guard lock(state_->mutex);
    if (state_->under_way.empty() || !such(state_->under_way.front())) return std::nullopt;
    const Fetch oldest = state_->under_way.front();
    state_->under_way.pop_front();
    return oldest;
  }

  [[nodiscard]] Completed complete(const Fetch& fetch) {
    return completed(fetch.tag, [&] { return end(fetch); });
  }

  [[nodiscard]] std::span<const std::byte> end(const Fetch& fetch) {
    const auto view = storage_.fetch(fetch.slice, fetch.scratch);
    std::this_thread::sleep_until(fetch.due);
    return view;
  }

  Storage storage_;
  DiskModel disk_;
  std::unique_ptr<State> state_;
};

}  // namespace lazymoe::storage
