#pragma once

#include <condition_variable>
#include <mutex>

namespace lazymoe::store::detail {

/// The threads that wait for a store: for experts to arrive, or for slots to be released. Where the storage has reads
/// under way by itself, one of those that wait collects them for all, and every call to the store takes note of those
/// that are over: no thread need be woken for what is read in time.
template <class Loader>
class Waiters {
 public:
  /// @param mutex of the store
  Waiters(std::mutex& mutex, Loader& loader) noexcept : mutex_(&mutex), loader_(&loader) {}

  /// Waits until until() is true: for arrived() or for released(), as the caller says, or for reads to collect.
  /// @pre the lock is held; until() is called under it
  template <class Until>
  void wait_arrived(std::unique_lock<std::mutex>& lock, Until&& until) {
    wait(lock, arrived_, until);
  }
  template <class Until>
  void wait_released(std::unique_lock<std::mutex>& lock, Until&& until) {
    wait(lock, released_, until);
  }

  /// @pre the lock is held, here and below: who waits may destroy the store as soon as it is let go
  void arrived() noexcept { arrived_.notify_all(); }
  void released() noexcept { released_.notify_all(); }

  /// Reads have begun: those who wait may have to collect them.
  /// @pre the lock is not held
  void begun() noexcept {
    if (!loader_->under_way()) return;
    const std::lock_guard lock(*mutex_);
    wake_all();
  }

  /// Takes note of the reads that are over by now.
  /// @pre the lock is not held
  void collect() noexcept {
    if (!loader_->under_way()) return;
    std::unique_lock lock(*mutex_);
    (void)alone(lock, [this] { loader_->collect_ready(); });
  }

 private:
  template <class Until>
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, Until&& until) {
    while (!until()) {
      if (!alone(lock, [this] { loader_->collect(); })) changed.wait(lock);
    }
  }

  /// Calls collecting() without the lock, unless there is nothing to collect or another thread is about it.
  template <class Collecting>
  bool alone(std::unique_lock<std::mutex>& lock, Collecting&& collecting) noexcept {
    if (collecting_ || !loader_->under_way()) return false;
    collecting_ = true;
    lock.unlock();
    collecting();
    lock.lock();
    collecting_ = false;
    wake_all();
    return true;
  }

  void wake_all() noexcept {
    arrived_.notify_all();
    released_.notify_all();
  }

  std::mutex* mutex_;
  Loader* loader_;
  std::condition_variable arrived_;
  std::condition_variable released_;
  bool collecting_ = false;  ///< whether a thread collects
};

}  // namespace lazymoe::store::detail
