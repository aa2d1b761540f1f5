#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <unistd.h>

namespace lazymoe::test {

/// Two files of random bytes, neither a whole number of pages, that go with the fixture.
class ShardFixture {
 public:
  ShardFixture() {
    std::string name = (std::filesystem::temp_directory_path() / "lazymoe-shards-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    folder = name;
    root = folder;
    std::mt19937 random(7);
    for (std::size_t shard = 0; shard < paths.size(); ++shard) {
      paths[shard] = folder / ("shard-" + std::to_string(shard));
      contents[shard].resize(shard == 0 ? 70'001 : 20'003);
      for (auto& byte : contents[shard]) byte = static_cast<std::byte>(random());
      std::ofstream(paths[shard], std::ios::binary)
          .write(reinterpret_cast<const char*>(contents[shard].data()),
                 static_cast<std::streamsize>(contents[shard].size()));
    }
  }
  ShardFixture(const ShardFixture&) = delete;
  ShardFixture& operator=(const ShardFixture&) = delete;
  ~ShardFixture() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::filesystem::path folder;
  std::filesystem::path root;  ///< what `paths` begin with
  std::array<std::filesystem::path, 2> paths;
  std::array<std::vector<std::byte>, 2> contents;
};

}  // namespace lazymoe::test
