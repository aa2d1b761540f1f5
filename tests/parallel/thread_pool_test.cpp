#include <lazymoe/parallel/thread_pool.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <compare>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/count_allocations.hpp"

namespace lazymoe::parallel {
namespace {

struct Range {
  std::size_t begin;
  std::size_t end;
  friend auto operator<=>(const Range&, const Range&) = default;
};

std::set<Range> ranges_of(ThreadPool& pool, std::size_t n, std::size_t grain) {
  std::mutex mutex;
  std::set<Range> ranges;
  pool.parallel_for(n, grain, [&](std::size_t begin, std::size_t end) {
    const std::lock_guard lock(mutex);
    ranges.insert({begin, end});
  });
  return ranges;
}

}  // namespace

TEST_CASE("The ranges of a loop cover it once, on whole grains", "[parallel]") {
  const auto threads = GENERATE(0U, 1U, 2U, 5U);
  const std::size_t n = GENERATE(0U, 1U, 7U, 64U, 1000U);
  const std::size_t grain = GENERATE(1U, 3U, 64U, 5000U);
  CAPTURE(threads, n, grain);
  ThreadPool pool(threads);
  CHECK(pool.size() == std::max(threads, 1U));

  std::size_t end = 0;
  for (const auto& range : ranges_of(pool, n, grain)) {
    CHECK(range.begin == end);
    CHECK(range.begin % grain == 0);
    CHECK((range.end - range.begin >= grain || n < grain));
    end = range.end;
  }
  CHECK(end == n);
}

TEST_CASE("A large loop is cut finely enough to be shared", "[parallel]") {
  ThreadPool pool(3);
  CHECK(ranges_of(pool, 1000, 1).size() == 12);
  CHECK(ranges_of(pool, 1000, 500).size() == 2);
}

TEST_CASE("What one loop writes the next one reads", "[parallel]") {
  ThreadPool pool(4);
  std::vector<int> values(1000, 0);
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(values.size(), 16, [&](std::size_t begin, std::size_t end) {
      // Mirrored, so that most values come from another range than in the round before.
      for (std::size_t i = begin; i < end; ++i) ++values[round % 2 == 0 ? i : values.size() - 1 - i];
    });
  }
  CHECK(values == std::vector<int>(1000, 2000));
}

TEST_CASE("The calling thread works too and needs no other", "[parallel]") {
  ThreadPool alone(1);
  std::thread::id ran_on;
  alone.parallel_for(100, 1, [&](std::size_t, std::size_t) { ran_on = std::this_thread::get_id(); });
  CHECK(ran_on == std::this_thread::get_id());
}

TEST_CASE("An exception reaches the caller and the pool stays usable", "[parallel]") {
  ThreadPool pool(3);
  for (int round = 0; round < 200; ++round) {
    try {
      pool.parallel_for(100, 1, [&](std::size_t begin, std::size_t end) {
        if (begin <= 50 && 50 < end) throw std::runtime_error("at 50");
      });
      FAIL("no exception");
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()) == "at 50");
    }
    std::atomic<std::size_t> sum{0};
    pool.parallel_for(100, 1, [&](std::size_t begin, std::size_t end) { sum += end - begin; });
    CHECK(sum == 100);
  }
}

TEST_CASE("When every range throws, one exception arrives", "[parallel]") {
  ThreadPool pool(4);
  for (int round = 0; round < 200; ++round) {
    CHECK_THROWS_AS(pool.parallel_for(64, 1, [](std::size_t, std::size_t) { throw std::runtime_error("all"); }),
                    std::runtime_error);
  }
}

TEST_CASE("A loop inside a loop runs on the thread that asked for it", "[parallel]") {
  ThreadPool pool(4);
  std::atomic<std::size_t> sum{0};
  std::atomic<int> elsewhere{0};
  pool.parallel_for(16, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto self = std::this_thread::get_id();
      pool.parallel_for(100, 1, [&](std::size_t first, std::size_t last) {
        sum += last - first;
        if (std::this_thread::get_id() != self) ++elsewhere;
      });
    }
  });
  CHECK(sum == 1600);
  CHECK(elsewhere == 0);
}

TEST_CASE("Loops of several callers do not mix", "[parallel]") {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (std::size_t n = 10; n <= 40; n += 10) {
    callers.emplace_back([&pool, &wrong, n] {
      for (int round = 0; round < 500; ++round) {
        std::atomic<std::size_t> sum{0};
        pool.parallel_for(n, 1, [&sum](std::size_t begin, std::size_t end) { sum += end - begin; });
        if (sum != n) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(wrong == 0);
}

TEST_CASE("Sleeping workers wake up for a loop and for the end", "[parallel]") {
  for (int round = 0; round < 20; ++round) {
    ThreadPool pool(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::set<std::thread::id> seen;
    std::mutex mutex;
    pool.parallel_for(12, 1, [&](std::size_t, std::size_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    CHECK(seen.size() > 1);
  }
}

TEST_CASE("A loop allocates nothing, however much its function captures", "[parallel]") {
  ThreadPool pool(2);
  std::array<std::atomic<std::size_t>, 64> counts{};
  const auto before = test::allocations.load();
  for (int round = 0; round < 100; ++round) {
    pool.parallel_for(64, 1, [copy = std::array<std::size_t, 32>{}, &counts](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) counts[i] += 1 + copy[i % 32];
    });
  }
  CHECK(test::allocations.load() == before);
  CHECK(std::ranges::all_of(counts, [](const auto& count) { return count == 100; }));
}

}  // namespace lazymoe::parallel
