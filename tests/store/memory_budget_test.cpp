#include <lazymoe/store/memory_budget.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/throws.hpp"

namespace lazymoe::store {

TEST_CASE("A memory budget hands out what it has, and no more", "[store]") {
  MemoryBudget memory(1000);
  memory.reserve("weights", 600);
  CHECK(memory.left() == 400);
  memory.reserve("keys and values", 400);
  CHECK(memory.left() == 0);
  CHECK(memory.reserved() == 1000);
  CHECK(memory.entries().size() == 2);
  CHECK(test::error_of([&] { memory.reserve("one more", 1); }).code() == Errc::over_budget);
  CHECK(memory.reserved() == 1000);
}

TEST_CASE("The rest goes to whom it is enough for", "[store]") {
  MemoryBudget memory(1000);
  memory.reserve("weights", 600);
  CHECK(test::error_of([&] { memory.reserve_rest("experts", 401); }).code() == Errc::over_budget);
  CHECK(memory.left() == 400);
  CHECK(memory.reserve_rest("experts", 400) == 400);
  CHECK(memory.left() == 0);
}

TEST_CASE("A refusal of memory shows the arithmetic", "[store]") {
  MemoryBudget memory(10 << 20);
  const Error first = test::error_of([&] { memory.reserve_rest({{"weights", 20 << 20}, {"scratch", 1 << 20}}, "experts", 2 << 20); });
  CHECK(test::mentions(first, "weights 20.00 MiB + scratch 1.00 MiB + experts 2.00 MiB = 23.00 MiB"));
  CHECK(memory.reserved() == 0);
  memory.reserve("weights", 6 << 20);
  memory.reserve("keys and values", 3 << 20);
  const Error error = test::error_of([&] { memory.reserve_rest("experts", 2 << 20); });
  CHECK(std::string(error.what()) ==
        "the memory of 10.00 MiB is too little: weights 6.00 MiB + keys and values 3.00 MiB + experts 2.00 MiB = "
        "11.00 MiB");
}

TEST_CASE("Sizes near the largest number do not wrap around", "[store]") {
  MemoryBudget memory(1000);
  memory.reserve("weights", 600);
  CHECK(test::error_of([&] { memory.reserve("all", ~Bytes{0}); }).code() == Errc::over_budget);
}

}  // namespace lazymoe::store
