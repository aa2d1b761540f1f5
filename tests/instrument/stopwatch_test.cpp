#include <lazymoe/instrument/stopwatch.hpp>

#include <chrono>
#include <thread>

#include "support/catch.hpp"

namespace lazymoe::instrument {

TEST_CASE("A stopwatch counts nanoseconds and never runs backwards", "[instrument]") {
  Stopwatch watch;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto first = watch.elapsed_ns();
  CHECK(first >= 2'000'000);
  CHECK(watch.elapsed_ns() >= first);
}

TEST_CASE("A restarted stopwatch leaves no time uncounted", "[instrument]") {
  const Stopwatch whole;
  Stopwatch lap;
  std::uint64_t laps = 0;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    laps += lap.restart_ns();
  }
  CHECK(laps >= 3'000'000);
  CHECK(laps <= whole.elapsed_ns());
}

}  // namespace lazymoe::instrument
