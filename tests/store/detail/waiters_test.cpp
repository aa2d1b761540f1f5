#include <lazymoe/store/detail/waiters.hpp>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::store::detail {
namespace {

/// Reads that are over at once, and count for whoever waits.
struct FakeLoader {
  explicit FakeLoader(std::mutex& m) : mutex(m) {}

  [[nodiscard]] bool under_way() const noexcept { return n_under_way > 0; }
  void collect() noexcept {
    const bool alone = ++n_inside == 1;
    n_overlaps += alone ? 0 : 1;
    {
      const std::lock_guard lock(mutex);
      ++n_over;
    }
    --n_inside;
    --n_under_way;
  }
  void collect_ready() noexcept {
    if (under_way()) collect();
  }

  std::mutex& mutex;
  std::atomic<int> n_under_way{0};
  std::atomic<int> n_inside{0};
  std::atomic<int> n_overlaps{0};
  int n_over = 0;  ///< under the mutex
};

}  // namespace

TEST_CASE("Who waits collects, one at a time, and nobody is forgotten", "[store][waiters]") {
  std::mutex mutex;
  FakeLoader loader(mutex);
  Waiters<FakeLoader> waiters(mutex, loader);
  constexpr int n_reads = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::unique_lock lock(mutex);
      const auto enough = [&] { return loader.n_over >= n_reads - t; };
      t == 1 ? waiters.wait_released(lock, enough) : waiters.wait_arrived(lock, enough);
    });
  }
  for (int i = 0; i < n_reads; ++i) {  // begun by a thread that never waits
    ++loader.n_under_way;
    waiters.begun();
  }
  for (auto& thread : threads) thread.join();
  CHECK(loader.n_overlaps == 0);
  CHECK(loader.n_over == n_reads);
}

TEST_CASE("What is over is taken note of without waiting", "[store][waiters]") {
  std::mutex mutex;
  FakeLoader loader(mutex);
  Waiters<FakeLoader> waiters(mutex, loader);
  waiters.collect();
  CHECK(loader.n_over == 0);
  loader.n_under_way = 1;
  waiters.collect();
  CHECK(loader.n_over == 1);
}

TEST_CASE("Without reads under way, who waits is woken", "[store][waiters]") {
  std::mutex mutex;
  FakeLoader loader(mutex);
  Waiters<FakeLoader> waiters(mutex, loader);
  bool free = false;
  std::thread waiting([&] {
    std::unique_lock lock(mutex);
    waiters.wait_released(lock, [&] { return free; });
  });
  {
    const std::lock_guard lock(mutex);
    free = true;
    waiters.released();
  }
  waiting.join();
  CHECK(free);
}

}  // namespace lazymoe::store::detail
