#include <lazymoe/parallel/collector.hpp>

#include <atomic>
#include <thread>
#include <vector>

#include "support/catch.hpp"

namespace lazymoe::parallel {

TEST_CASE("A collector is called as often as something was begun, by whatever thread", "[parallel][collector]") {
  std::atomic<int> n_collected{0};
  {
    Collector collector([&] { ++n_collected; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i) collector.begun();
      });
    }
    for (auto& thread : threads) thread.join();
  }
  CHECK(n_collected == 1500);
}

TEST_CASE("What is begun while a collector collects is collected too, also at its end", "[parallel][collector]") {
  std::atomic<int> n_collected{0};
  {
    Collector* self = nullptr;
    std::atomic<bool> ready{false};
    Collector collector([&] {
      ready.wait(false);
      if (++n_collected < 20) self->begun();
    });
    self = &collector;
    ready = true;
    ready.notify_all();
    collector.begun();
  }
  CHECK(n_collected == 20);
}

TEST_CASE("A collector to whom nothing is given ends", "[parallel][collector]") {
  int n = 0;
  { const Collector collector([&] { ++n; }); }
  CHECK(n == 0);
}

}  // namespace lazymoe::parallel
