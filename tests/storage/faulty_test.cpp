#include <lazymoe/storage/faulty.hpp>

#include <array>
#include <map>

#include <lazymoe/storage/direct.hpp>
#include <lazymoe/storage/memory.hpp>
#include <lazymoe/storage/pread.hpp>

#include "storage_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe {
namespace {

using storage::Fault;

/// Every fetch gives the file's bytes or one Error{io} that names the file and an offset; the number of errors.
template <class Storage>
int count_errors(Storage& storage, const test::ShardFixture& files, int fetches) {
  std::mt19937 random(5);
  int errors = 0;
  for (int i = 0; i < fetches; ++i) {
    const auto shard = static_cast<std::uint32_t>(random() % 2);
    const Bytes size = files.contents[shard].size();
    const Bytes offset = random() % size;
    const experts::SliceRef slice{.shard = shard, .offset = offset, .bytes = 1 + random() % (size - offset)};
    try {
      const bool right = test::fetches_right(storage, files, slice);
      REQUIRE(right);
    } catch (const Error& error) {
      const std::string message = error.what();
      CAPTURE(message);
      REQUIRE(error.code() == Errc::io);
      REQUIRE(message.find(files.paths[shard].string()) == 0);
      REQUIRE(message.find("at offset ") != std::string::npos);
      ++errors;
    }
  }
  return errors;
}

}  // namespace

static_assert(storage::Faulty<storage::Pread>::name == "faulty-pread");

TEST_CASE("Faulty without a plan obeys the laws of the storage it decorates", "[storage][faulty]") {
  test::check_storage_laws<storage::Faulty<storage::Memory>>();
  test::check_storage_laws<storage::Faulty<storage::Pread>>();
}

TEST_CASE("Faults are chosen by seed, place and attempt", "[storage][faulty]") {
  const storage::FaultPlan plan{.seed = 3, .transient = 300, .delayed = 100, .lasting = 300};
  storage::FaultChooser forward(plan);
  storage::FaultChooser backward(plan);
  std::map<std::uint64_t, std::vector<Fault>> a;
  std::map<std::uint64_t, std::vector<Fault>> b;
  std::map<Fault, int> kinds;
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (std::uint64_t place = 0; place < 1000; ++place) {
      a[place].push_back(forward(place));
      b[999 - place].push_back(backward(999 - place));
      ++kinds[a[place].back()];
    }
  }
  CHECK(a == b);
  CHECK(kinds.size() == 8);  // each occurs
  CHECK(kinds[Fault::none] > 800);
  CHECK(kinds[Fault::none] < 1000);
  CHECK(kinds[Fault::broken] > 200);
  CHECK(a[0] != a[1]);
}

TEST_CASE("Pread and Direct overcome transient faults and report lasting ones", "[storage][faulty]") {
  const test::ShardFixture files;
  const auto seed = GENERATE(range(0U, 20U));
  CAPTURE(seed);
  {
    const storage::FaultyRead transient({.seed = seed, .transient = 400, .delayed = 10});
    storage::BasicPread pread(files.paths, transient);
    CHECK(count_errors(pread, files, 50) == 0);
    storage::BasicDirect direct(files.paths, transient);
    CHECK(count_errors(direct, files, 50) == 0);
  }
  const storage::FaultyRead lasting({.seed = seed, .transient = 200, .lasting = 200});
  storage::BasicPread pread(files.paths, lasting);
  const int errors = count_errors(pread, files, 50);
  CHECK(errors > 2);
  CHECK(errors < 40);
  storage::BasicDirect direct(files.paths, lasting);
  CHECK(count_errors(direct, files, 50) < 40);
}

TEST_CASE("Faulty fails some fetches and not others, and stays usable", "[storage][faulty]") {
  const test::ShardFixture files;
  const auto seed = GENERATE(range(0U, 5U));
  storage::Faulty<storage::Pread> faulty(files.paths, {.seed = seed, .delayed = 50, .lasting = 300});
  const int errors = count_errors(faulty, files, 200);
  CHECK(errors > 30);
  CHECK(errors < 90);
}

}  // namespace lazymoe
