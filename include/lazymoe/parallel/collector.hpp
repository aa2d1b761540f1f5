#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace lazymoe::parallel {

/// A thread that waits for what others have begun: it calls a function once for each begun().
///
/// Destruction returns when it has been called as often.
/// @thread safe
class Collector {
 public:
  /// @param collect blocks until something that was begun is over; must not throw
  explicit Collector(std::function<void()> collect)
      : collect_(std::move(collect)), thread_([this] { work(); }) {}

  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  void begun() noexcept {
    {
      const std::lock_guard lock(mutex_);
      ++n_left_;
    }
    wake_.notify_one();
  }

 private:
  void work() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return n_left_ > 0 || stopping_; });
      if (n_left_ == 0) return;
      --n_left_;
      lock.unlock();
      collect_();
      lock.lock();
    }
  }

  std::function<void()> collect_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::size_t n_left_ = 0;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses what precedes it
};

}  // namespace lazymoe::parallel
