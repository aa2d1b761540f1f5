#include <lazymoe/storage/throttled.hpp>

#include <lazymoe/instrument/stopwatch.hpp>
#include <lazymoe/storage/memory.hpp>
#include <lazymoe/storage/mmap.hpp>
#include <lazymoe/storage/pread.hpp>

#include "async_laws.hpp"
#include "storage_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {

static_assert(storage::Throttled<storage::Mmap>::name == "throttled-mmap");

TEMPLATE_TEST_CASE("Throttled obeys the laws of the storage it decorates", "[storage][throttled]", storage::Memory,
                   storage::Pread) {
  test::check_storage_laws<storage::Throttled<TestType>>();
  test::check_async_laws<storage::Throttled<TestType>>();
}

TEST_CASE("Throttled reads share the bandwidth and not the latency", "[storage][throttled]") {
  using namespace std::chrono_literals;
  const test::ShardFixture files;
  // 20 000 bytes pass in 20 ms, after 30 ms.
  storage::Throttled<storage::Memory> disk(storage::Memory(files.paths),
                                           {.bytes_per_second = 1e6, .latency = std::chrono::milliseconds(30)});
  const experts::SliceRef slice{.shard = 0, .offset = 1, .bytes = 20'000};

  const instrument::Stopwatch one;
  CHECK(disk.fetch(slice, {}).size() == 20'000);
  CHECK(one.elapsed_ns() >= 50'000'000);

  const instrument::Stopwatch four;
  for (std::uint64_t i = 0; i < 4; ++i) disk.submit(slice, {}, i);
  for (std::uint64_t i = 0; i < 4; ++i) CHECK(disk.next().tag == i);
  CHECK(four.elapsed_ns() >= 110'000'000);  // not 200
}

}  // namespace lazymoe
