#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <lazymoe/storage/storage.hpp>

namespace lazymoe::test {

/// What a test does to a storage, and sees of it.
class Hook {
 public:
  Hook() = default;
  /// @param before runs before every fetch, on its thread: to wait, or to fail
  explicit Hook(std::function<void(const experts::SliceRef&)> before) : before_(std::move(before)) {}

  void on_fetch(const experts::SliceRef& slice) {
    {
      const std::lock_guard lock(mutex_);
      fetched_.push_back(slice);
    }
    if (before_) before_(slice);
  }
  void on_discard(const experts::SliceRef& slice) {
    const std::lock_guard lock(mutex_);
    discarded_.push_back(slice);
  }

  [[nodiscard]] std::vector<experts::SliceRef> fetched() const {
    const std::lock_guard lock(mutex_);
    return fetched_;
  }
  [[nodiscard]] std::vector<experts::SliceRef> discarded() const {
    const std::lock_guard lock(mutex_);
    return discarded_;
  }

 private:
  std::function<void(const experts::SliceRef&)> before_;
  mutable std::mutex mutex_;
  std::vector<experts::SliceRef> fetched_;
  std::vector<experts::SliceRef> discarded_;
};

/// `Inner` with a hook before every fetch.
template <storage::StoragePolicy Inner>
class Hooked {
 public:
  static constexpr std::string_view name = "hooked";

  explicit Hooked(std::span<const std::filesystem::path> paths, std::shared_ptr<Hook> hook = std::make_shared<Hook>())
      : inner_(paths), hook_(std::move(hook)) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept { return inner_.footprint(slice); }
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) const {
    hook_->on_fetch(slice);
    return inner_.fetch(slice, scratch);
  }
  void discard(const experts::SliceRef& slice) const noexcept {
    hook_->on_discard(slice);
    if constexpr (storage::DiscardableStorage<Inner>) inner_.discard(slice);
  }

 private:
  Inner inner_;
  std::shared_ptr<Hook> hook_;
};

/// Holds up whoever passes until it is opened.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++n_waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --n_waiting_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// Blocks until `n` wait at the gate.
  void await(std::size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, n] { return n_waiting_ >= n; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t n_waiting_ = 0;
  bool open_ = false;
};

}  // namespace lazymoe::test
