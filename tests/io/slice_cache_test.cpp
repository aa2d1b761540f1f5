#include <lazymoe/io/slice_cache.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"
#include "support/throws.hpp"

namespace lazymoe::io {

namespace {

namespace fs = std::filesystem;

std::vector<std::byte> slice(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 31 + seed) % 256);
  return made;
}

bool holds(const SliceCache& cache, Bytes offset, const std::vector<std::byte>& expected) {
  std::vector<std::byte> into(expected.size(), std::byte{0xEE});
  return cache.find(offset, into) && into == expected;
}

fs::path file_of(const fs::path& folder, const std::string& extension) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == extension) return entry.path();
  }
  throw std::runtime_error("there is no " + extension);
}

void damage(const fs::path& file, std::streamoff at, const std::string& with) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(at);
  stream << with;
}

}  // namespace

TEST_CASE("A slice that was put in is found, also by the next process", "[io][slice_cache]") {
  const test::TempDir dir;
  const fs::path folder = dir.path() / "a" / "b";
  {
    SliceCache cache(folder, "model.gguf", "one");
    CHECK_FALSE(holds(cache, 100, slice(1000, 1)));
    cache.put(100, slice(1000, 1));
    cache.put(5'000'000'000, slice(77, 2));
    CHECK(holds(cache, 100, slice(1000, 1)));
  }
  const SliceCache again(folder, "model.gguf", "one");
  CHECK(again.n_slices() == 2);
  CHECK(holds(again, 100, slice(1000, 1)));
  CHECK(holds(again, 5'000'000'000, slice(77, 2)));
  CHECK_FALSE(holds(again, 100, slice(999, 1)));  // another slice
  CHECK_FALSE(holds(again, 101, slice(1000, 1)));
}

TEST_CASE("The slices of a file in another state are not found", "[io][slice_cache]") {
  const test::TempDir dir;
  SliceCache(dir.path(), "model.gguf", "one").put(0, slice(100, 1));
  CHECK_FALSE(holds(SliceCache(dir.path(), "model.gguf", "two"), 0, slice(100, 1)));
  CHECK(holds(SliceCache(dir.path(), "model.gguf", "one"), 0, slice(100, 1)));
}

TEST_CASE("A slice whose bytes are not those that were put in is not found", "[io][slice_cache]") {
  const test::TempDir dir;
  SliceCache(dir.path(), "m", "one").put(0, slice(4096, 1));
  const fs::path slices = file_of(dir.path(), ".slices");
  SECTION("one byte is another") {
    damage(slices, GENERATE(0, 31, 32, 4095), "?");
  }
  SECTION("the end was never written") {
    fs::resize_file(slices, 4000);
  }
  SECTION("a hole lies in it") {
    fs::resize_file(slices, 1024);
    fs::resize_file(slices, 4096);
  }
  SECTION("nothing of it is left") {
    fs::remove(slices);
  }
  SliceCache cache(dir.path(), "m", "one");
  CHECK_FALSE(holds(cache, 0, slice(4096, 1)));
  cache.put(0, slice(4096, 1));
  CHECK(holds(cache, 0, slice(4096, 1)));
}

TEST_CASE("An index that was cut short anywhere loses no more than what was cut", "[io][slice_cache]") {
  const test::TempDir dir;
  for (unsigned i = 0; i < 3; ++i) SliceCache(dir.path(), "m", "one").put(1000 * i, slice(1000, i));
  const fs::path index = file_of(dir.path(), ".index");
  const auto bytes = fs::file_size(index);
  const auto left = GENERATE_COPY(range(std::uintmax_t{0}, bytes, std::uintmax_t{7}));
  fs::resize_file(index, left);
  SliceCache cache(dir.path(), "m", "one");
  for (unsigned i = 0; i < 3; ++i) CHECK(holds(cache, 1000 * i, slice(1000, i)) == ((i + 1) * bytes / 3 <= left));
  cache.put(7000, slice(10, 7));
  cache.put(8000, slice(10, 8));
  CHECK(holds(SliceCache(dir.path(), "m", "one"), 8000, slice(10, 8)));
}

TEST_CASE("An index of nonsense finds nothing", "[io][slice_cache]") {
  const test::TempDir dir;
  SliceCache(dir.path(), "m", "one").put(0, slice(100, 1));
  std::ofstream(file_of(dir.path(), ".index")) << "nonsense\n\n" << std::string(50, 'x') << '\n' << std::string(999, '0');
  CHECK(SliceCache(dir.path(), "m", "one").n_slices() == 0);
}

TEST_CASE("Threads and processes put the same slices in without harm", "[io][slice_cache]") {
  const test::TempDir dir;
  SliceCache one(dir.path(), "m", "one");
  SliceCache other(dir.path(), "m", "one");
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      SliceCache& cache = t % 2 == 0 ? one : other;
      for (unsigned i = 0; i < 50; ++i) {
        cache.put(i * 100, slice(100, i));
        wrong += holds(cache, i * 100, slice(100, i)) ? 0 : 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(SliceCache(dir.path(), "m", "one").n_slices() == 50);
}

TEST_CASE("A folder that cannot be made is an error that names it", "[io][slice_cache]") {
  const test::TempDir dir;
  (void)dir.write("file", {});
  const Error error = test::error_of([&] { SliceCache(dir.path() / "file" / "folder", "m", "one"); });
  CHECK(error.code() == Errc::io);
  CHECK(test::mentions(error, "file/folder"));
}

}  // namespace lazymoe::io
