#include <lazymoe/parallel/io_queue.hpp>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::parallel {

TEST_CASE("Demands go before prefetches, each in the order of submission", "[parallel]") {
  std::string order;
  std::latch submitted(1);
  std::latch done(5);
  IoQueue queue(1);
  queue.submit(Priority::demand, [&] { submitted.wait(); });  // occupies the only thread
  for (const char c : {'a', 'b'})
    queue.submit(Priority::prefetch, [&order, &done, c] { order += c, done.count_down(); });
  for (const char c : {'A', 'B', 'C'})
    queue.submit(Priority::demand, [&order, &done, c] { order += c, done.count_down(); });
  CHECK(queue.pending(Priority::prefetch) == 2);
  CHECK(queue.pending(Priority::demand) >= 3);
  submitted.count_down();
  done.wait();
  CHECK(order == "ABCab");
}

TEST_CASE("Jobs run on several threads at once", "[parallel]") {
  IoQueue queue(3);
  CHECK(queue.size() == 3);
  std::latch all_here(3);  // none returns before all three run
  std::latch done(3);
  for (int i = 0; i < 3; ++i) {
    queue.submit(Priority::demand, [&] {
      all_here.arrive_and_wait();
      done.count_down();
    });
  }
  done.wait();
}

TEST_CASE("Every job of many submitters runs once", "[parallel]") {
  std::atomic<int> runs{0};
  {
    IoQueue queue(3);
    std::vector<std::thread> submitters;
    for (int t = 0; t < 4; ++t) {
      submitters.emplace_back([&] {
        for (int i = 0; i < 500; ++i) queue.submit(Priority::demand, [&runs] { ++runs; });
      });
    }
    for (auto& submitter : submitters) submitter.join();
  }
  CHECK(runs == 2000);
}

TEST_CASE("A job may submit another", "[parallel]") {
  std::latch done(1);
  IoQueue queue(1);
  queue.submit(Priority::prefetch, [&] { queue.submit(Priority::demand, [&] { done.count_down(); }); });
  done.wait();
}

TEST_CASE("The end runs waiting demands and destroys waiting prefetches unrun", "[parallel]") {
  std::atomic<int> demands{0};
  std::atomic<int> prefetches{0};
  const auto owned = std::make_shared<int>(0);
  std::latch begun(1);
  std::latch hold(1);
  auto owner = std::make_unique<IoQueue>(1U);
  IoQueue& queue = *owner;
  queue.submit(Priority::demand, [&] {
    begun.count_down();
    hold.wait();
  });
  begun.wait();
  for (int i = 0; i < 10; ++i) {
    queue.submit(Priority::prefetch, [&prefetches, owned] { ++prefetches; });
    queue.submit(Priority::demand, [&demands, owned] { ++demands; });
  }
  CHECK(owned.use_count() == 21);

  std::thread ends([&owner] { owner.reset(); });
  while (queue.pending(Priority::prefetch) != 0) std::this_thread::yield();  // until the end has begun
  hold.count_down();
  ends.join();
  CHECK(demands == 10);
  CHECK(prefetches == 0);
  CHECK(owned.use_count() == 1);
}

}  // namespace lazymoe::parallel
