#include <lazymoe/io/memory_limit.hpp>

#include <fstream>
#include <string>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::io {
namespace {

/// A /proc and a /sys/fs/cgroup of our own.
class FakeSystem {
 public:
  FakeSystem() {
    write("proc/meminfo", "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    8000 kB\n");
  }

  void write(const std::string& name, const std::string& text) const {
    const auto path = directory_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  [[nodiscard]] MemoryLimit limit() const {
    return memory_limit(directory_.path() / "proc", directory_.path() / "groups").value();
  }

 private:
  test::TempDir directory_;
};

}  // namespace

TEST_CASE("Without control groups the system says what is available", "[io]") {
  const FakeSystem system;
  CHECK(system.limit().bytes == 8000 * 1024);
  CHECK(system.limit().source == "MemAvailable");
}

TEST_CASE("A control group of version 2 limits, and so do those it lies in", "[io]") {
  const FakeSystem system;
  system.write("proc/self/cgroup", "0::/user/app\n");
  system.write("groups/user/app/memory.max", "max\n");
  system.write("groups/user/app/memory.current", "500\n");
  CHECK(system.limit().source == "MemAvailable");

  system.write("groups/user/app/memory.max", "3000000\n");
  CHECK(system.limit().source == "cgroup v2");
  CHECK(system.limit().bytes == 2999500);

  system.write("groups/user/memory.max", "1000000\n");
  system.write("groups/user/memory.current", "400000\n");
  CHECK(system.limit().bytes == 600000);

  system.write("groups/user/memory.current", "1400000\n");  // above the limit while pages are taken back
  CHECK(system.limit().bytes == 0);
}

TEST_CASE("A control group of version 1 limits, unless its number means none", "[io]") {
  const FakeSystem system;
  system.write("proc/self/cgroup", "5:cpu:/x\n4:memory:/app\n");
  system.write("groups/memory/app/memory.limit_in_bytes", "9223372036854771712\n");
  system.write("groups/memory/app/memory.usage_in_bytes", "100\n");
  CHECK(system.limit().source == "MemAvailable");

  system.write("groups/memory/app/memory.limit_in_bytes", "2000\n");
  CHECK(system.limit().source == "cgroup v1");
  CHECK(system.limit().bytes == 1900);
}

TEST_CASE("A limit above what is available does not count", "[io]") {
  const FakeSystem system;
  system.write("proc/self/cgroup", "0::/\n");
  system.write("groups/memory.max", "99999999999\n");
  CHECK(system.limit().source == "MemAvailable");
}

TEST_CASE("This system says something, or nothing", "[io]") {
  const auto limit = memory_limit();
  if (limit) CHECK(limit->bytes < Bytes{1} << 60);
  CHECK_FALSE(memory_limit("/nowhere", "/nowhere").has_value());
}

}  // namespace lazymoe::io
