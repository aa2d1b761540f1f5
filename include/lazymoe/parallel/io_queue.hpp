#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../core/contract.hpp"

namespace lazymoe::parallel {

/// Which jobs go first.
enum class Priority : std::uint8_t {
  demand,    ///< somebody waits for it
  prefetch,  ///< a guess
};

/// A few threads for reads that block. Prefetches begin only when no demand is waiting; within a priority jobs
/// begin in the order of submission.
///
/// Destruction runs the demands still waiting, destroys the prefetches still waiting without running them, and
/// returns when no job runs any more.
/// @thread safe; a job may submit others
class IoQueue {
 public:
  /// Small callables (two pointers) are stored without allocation.
  using Job = std::function<void()>;

  /// @param threads 0 means 1
  explicit IoQueue(unsigned threads = 4) {
    workers_.reserve(std::max(threads, 1U));
    try {
      while (workers_.size() < workers_.capacity()) workers_.emplace_back([this] { work(); });
    } catch (...) {
      stop();
      throw;
    }
  }

  IoQueue(const IoQueue&) = delete;
  IoQueue& operator=(const IoQueue&) = delete;
  ~IoQueue() { stop(); }

  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()); }

  /// @pre the job is not empty and does not throw: it hands its errors to whoever waits for it
  void submit(Priority priority, Job job) {
    LAZYMOE_EXPECTS(job != nullptr);
    {
      const std::lock_guard lock(mutex_);
      waiting(priority).push_back(std::move(job));
    }
    wake_.notify_one();
  }

  /// Jobs that have not begun.
  [[nodiscard]] std::size_t pending(Priority priority) const {
    const std::lock_guard lock(mutex_);
    return waiting_[static_cast<std::size_t>(priority)].size();
  }

 private:
  std::deque<Job>& waiting(Priority priority) noexcept { return waiting_[static_cast<std::size_t>(priority)]; }

  void work() noexcept {
    for (;;) {
      const Job job = next();
      if (!job) return;
      try {
        job();
      } catch (...) {
        [[maybe_unused]] constexpr bool job_threw = true;
        LAZYMOE_EXPECTS(!job_threw);
      }
    }
  }

  /// The next job, waiting for it if need be; empty when there will be none.
  Job next() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] {
      return stopping_ || std::ranges::any_of(waiting_, [](const auto& jobs) { return !jobs.empty(); });
    });
    for (auto& jobs : waiting_) {
      if (jobs.empty()) continue;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      return job;
    }
    return {};
  }

  void stop() noexcept {
    std::deque<Job> dropped;  // destroyed outside the lock: what a job owns may call back
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      dropped.swap(waiting(Priority::prefetch));
    }
    wake_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::array<std::deque<Job>, 2> waiting_;  ///< by Priority
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace lazymoe::parallel
