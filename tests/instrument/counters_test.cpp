#include <lazymoe/instrument/counters.hpp>

#include "support/catch.hpp"

namespace lazymoe::instrument {

constexpr StoreCounters sample{
    .hits = 3, .misses = 2, .joined = 1, .evictions = 4, .reads = 5, .bytes_read = 600, .wait_ns = 70};

constexpr StoreCounters twice(StoreCounters counters) { return counters += counters; }

static_assert(sample.requests() == 6);
static_assert(sample.hit_rate() == 0.5);
static_assert(StoreCounters{}.hit_rate() == 0.0);

TEST_CASE("Counters add up field by field", "[instrument]") {
  CHECK(twice(sample) ==
        StoreCounters{
            .hits = 6, .misses = 4, .joined = 2, .evictions = 8, .reads = 10, .bytes_read = 1200, .wait_ns = 140});
}

TEST_CASE("The total of layered counters is the sum of the layers", "[instrument]") {
  LayeredCounters counters(3);
  counters.add(0, sample);
  counters.add(2, sample);
  counters.add(2, sample);

  CHECK(counters.layers[0] == sample);
  CHECK(counters.layers[1] == StoreCounters{});
  CHECK(counters.layers[2] == twice(sample));
  StoreCounters sum;
  for (const auto& layer : counters.layers) sum += layer;
  CHECK(counters.total == sum);
}

}  // namespace lazymoe::instrument
