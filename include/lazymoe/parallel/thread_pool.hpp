#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "../core/contract.hpp"

namespace lazymoe::parallel {

/// Fixed threads that share the iterations of loops; the calling thread is one of them.
///
/// Made for loops of microseconds, hundreds a token: a call allocates nothing, idle workers spin for some
/// microseconds before they sleep, and a worker that wakes too late is not waited for.
///
/// @thread safe: loops of several callers run one after the other; a loop inside a loop runs on its caller alone
class ThreadPool {
 public:
  /// @param threads including the caller's: 1 starts none, 0 means 1
  explicit ThreadPool(unsigned threads = std::thread::hardware_concurrency()) {
    const unsigned n_workers = std::max(threads, 1U) - 1;
    workers_.reserve(n_workers);
    try {
      for (unsigned i = 0; i < n_workers; ++i) workers_.emplace_back([this] { work(); });
    } catch (...) {
      stop();
      throw;
    }
  }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { stop(); }

  /// Threads that work on a loop, the caller's included.
  [[nodiscard]] unsigned size() const noexcept { return static_cast<unsigned>(workers_.size()) + 1; }

  /// Calls `fn(begin, end)` for disjoint ranges that cover [0, n), and returns when all have returned.
  ///
  /// Ranges begin at multiples of `grain` and are at least as long (unless n is shorter). Which thread runs which
  /// range, and when, differs from call to call: `fn` must not let its results depend on it.
  ///
  /// @pre    grain > 0; `fn` starts no loop on a pool whose loop waits for this one
  /// @throws the first exception of `fn`; ranges not begun by then are skipped
  /// @cost   about a microsecond beyond `fn`; no allocation
  template <class Fn>
  void parallel_for(std::size_t n, std::size_t grain, Fn&& fn) {
    LAZYMOE_EXPECTS(grain > 0);
    if (n == 0) return;
    // Four ranges a thread: enough to even out slow threads, few enough to cost nothing.
    const std::size_t n_grains = std::max<std::size_t>(n / grain, 1);
    const std::size_t n_ranges = std::min<std::size_t>(n_grains, std::size_t{4} * size());
    if (n_ranges == 1 || size() == 1 || is_inside()) {
      fn(std::size_t{0}, n);
      return;
    }
    using Callee = std::remove_reference_t<Fn>;
    const auto call = [](const void* callee, std::size_t begin, std::size_t end) {
      (*static_cast<Callee*>(const_cast<void*>(callee)))(begin, end);
    };
    run({.call = call,
         .callee = std::addressof(fn),
         .n = n,
         .grain = grain,
         .n_grains = n_grains,
         .n_ranges = n_ranges});
  }

 private:
  struct Loop {
    void (*call)(const void*, std::size_t, std::size_t) = nullptr;
    const void* callee = nullptr;
    std::size_t n = 0;
    std::size_t grain = 0;
    std::size_t n_grains = 0;  ///< whole grains; the last range takes the rest too
    std::size_t n_ranges = 0;

    /// Where range i begins; range n_ranges begins at the end.
    [[nodiscard]] std::size_t begin(std::size_t i) const noexcept {
      if (i == n_ranges) return n;
      return (n_grains / n_ranges * i + std::min(i, n_grains % n_ranges)) * grain;
    }
  };

  // The gate counts the workers inside the current loop; the top bit says whether more may enter. When it is
  // zero, no worker touches the loop, and none will before the next one is opened.
  static constexpr std::uint32_t open = std::uint32_t{1} << 31;

  static constexpr int spins = 256;

  void run(const Loop& loop) {
    const std::lock_guard lock(mutex_);
    caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    loop_ = loop;
    next_range_.store(0, std::memory_order_relaxed);
    gate_.store(open, std::memory_order_release);
    signal_.fetch_add(1, std::memory_order_seq_cst);
    signal_.notify_all();

    take_ranges();

    std::uint32_t inside = gate_.fetch_and(~open, std::memory_order_acq_rel) & ~open;
    while (inside != 0) inside = await_change(gate_, inside);
    caller_.store({}, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  void take_ranges() noexcept {
    try {
      for (std::size_t i; (i = next_range_.fetch_add(1, std::memory_order_relaxed)) < loop_.n_ranges;) {
        loop_.call(loop_.callee, loop_.begin(i), loop_.begin(i + 1));
      }
    } catch (...) {
      next_range_.store(loop_.n_ranges, std::memory_order_relaxed);
      if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
    }
  }

  void work() noexcept {
    std::uint32_t seen = 0;
    for (;;) {
      seen = await_change(signal_, seen);
      if (stopping_.load(std::memory_order_relaxed)) return;
      if (!enter()) continue;
      take_ranges();
      if (gate_.fetch_sub(1, std::memory_order_acq_rel) == 1) gate_.notify_one();
    }
  }

  /// Joins the current loop if it is still open.
  bool enter() noexcept {
    std::uint32_t gate = gate_.load(std::memory_order_relaxed);
    do {
      if ((gate & open) == 0) return false;
    } while (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed));
    return true;
  }

  /// Waits until the word differs from `old`, spinning at first, and returns what it became.
  static std::uint32_t await_change(const std::atomic<std::uint32_t>& word, std::uint32_t old) noexcept {
    for (int i = 0; i < spins; ++i) {
      const std::uint32_t now = word.load(std::memory_order_acquire);
      if (now != old) return now;
      pause();
    }
    word.wait(old, std::memory_order_acquire);
    return word.load(std::memory_order_acquire);
  }

  /// Tells the processor that this is a spinning loop.
  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  /// Is this thread running a range of this pool?
  [[nodiscard]] bool is_inside() const noexcept {
    const auto self = std::this_thread::get_id();
    return caller_.load(std::memory_order_relaxed) == self ||
           std::ranges::any_of(workers_, [self](const std::thread& worker) { return worker.get_id() == self; });
  }

  void stop() noexcept {
    stopping_.store(true, std::memory_order_relaxed);
    signal_.fetch_add(1, std::memory_order_seq_cst);
    signal_.notify_all();
    for (auto& worker : workers_) worker.join();
  }

  std::mutex mutex_;  ///< held by the caller of the current loop
  Loop loop_;
  std::exception_ptr error_;
  std::atomic<std::thread::id> caller_{};  ///< who holds mutex_
  std::atomic<bool> failed_{false};
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<std::size_t> next_range_{0};
  alignas(64) std::atomic<std::uint32_t> gate_{0};
  alignas(64) std::atomic<std::uint32_t> signal_{0};  ///< changes when workers should look up
  std::vector<std::thread> workers_;
};

}  // namespace lazymoe::parallel
