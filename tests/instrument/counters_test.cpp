#include <lazymoe/instrument/counters.hpp>

#include "support/catch.hpp"

namespace lazymoe::instrument {

/// Every field another number.
constexpr StoreCounters sample = [] {
  StoreCounters counters;
  std::uint64_t n = 0;
  for (const auto& [name, field] : counter_fields) counters.*field = ++n;
  return counters;
}();

constexpr StoreCounters twice(StoreCounters counters) { return counters += counters; }

static_assert(sample.hits == 1 && sample.pinned_hits == 2 && sample.prefetched == 3 && sample.prefetched_late == 4 &&
              sample.joined == 5 && sample.misses == 6 && sample.wait_ns == 12 && sample.busy_ns == 13);
static_assert(sample.requests() == 1 + 2 + 3 + 4 + 5 + 6);
static_assert(sample.resident() == 1 + 2 + 3);
static_assert(StoreCounters{.hits = 2, .prefetched = 1, .misses = 1}.hit_rate() == 0.75);
static_assert(StoreCounters{}.hit_rate() == 0.0);
static_assert(StoreCounters{.wait_ns = 30, .busy_ns = 100}.overlapped_ns() == 70);
static_assert(StoreCounters{.wait_ns = 100, .busy_ns = 30}.overlapped_ns() == 0);

TEST_CASE("Counters add up and are told apart field by field", "[instrument]") {
  for (const auto& [name, field] : counter_fields) {
    CAPTURE(name);
    CHECK(twice(sample).*field == 2 * sample.*field);
    CHECK((twice(sample) - sample).*field == sample.*field);
  }
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
