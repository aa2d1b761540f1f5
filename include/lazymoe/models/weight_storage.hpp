#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "../storage/any_storage.hpp"
#include "../storage/mmap.hpp"
#include "../storage/pread.hpp"
#include "../storage/storage.hpp"

namespace lazymoe::models {

/// What dense weights come through: read once into memory of our own, mapped from the files, or whatever `open` makes
/// of the paths of the shards. A storage that returns views of its own is kept; any other is gone when all is read.
struct WeightStorage {
  std::function<storage::AnyStorage(std::span<const std::filesystem::path>)> open;
  unsigned reads = 1;  ///< tensors under way at once: a server far away answers many in the time of one

  static const WeightStorage read;
  static const WeightStorage mmap;

  template <storage::StoragePolicy Storage>
  [[nodiscard]] static WeightStorage by() {
    return {.open = [](std::span<const std::filesystem::path> paths) { return storage::AnyStorage(Storage(paths)); }};
  }
};
inline const WeightStorage WeightStorage::read = WeightStorage::by<storage::Pread>();
inline const WeightStorage WeightStorage::mmap = WeightStorage::by<storage::Mmap>();

}  // namespace lazymoe::models
