#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/types.hpp"
#include "../../experts/slice.hpp"
#include "../../io/file_handle.hpp"

namespace lazymoe::storage::detail {

/// The files of a model, open, with their sizes of that moment: what every storage checks slices against.
template <class File>
class ShardsOf {
 public:
  /// @param  open makes the File of a path
  /// @throws Error{io}
  template <class Open>
  ShardsOf(std::span<const std::filesystem::path> paths, Open&& open) {
    files_.reserve(paths.size());
    for (const auto& path : paths) files_.push_back(open(path));
  }

  explicit ShardsOf(std::span<const std::filesystem::path> paths)
      : ShardsOf(paths, [](const std::filesystem::path& path) { return File(path); }) {}

  [[nodiscard]] std::span<const File> files() const noexcept { return files_; }

  [[nodiscard]] bool contains(const experts::SliceRef& slice) const noexcept {
    if (slice.shard >= files_.size()) return false;
    const Bytes size = files_[slice.shard].bytes();
    return slice.offset <= size && slice.bytes <= size - slice.offset;
  }

  /// The file of a slice that lies inside it.
  /// @throws Error{io} if the slice does not
  [[nodiscard]] const File& file_of(const experts::SliceRef& slice) const {
    if (contains(slice)) return files_[slice.shard];
    const std::string wanted =
        "cannot read " + std::to_string(slice.bytes) + " bytes at offset " + std::to_string(slice.offset) + ": ";
    if (slice.shard >= files_.size()) {
      throw Error(Errc::io, "shard " + std::to_string(slice.shard) + ": " + wanted + "the model has " +
                                std::to_string(files_.size()) + " shards");
    }
    const File& file = files_[slice.shard];
    throw Error(Errc::io,
                file.path().string() + ": " + wanted + "the file has " + std::to_string(file.bytes()) + " bytes");
  }

 private:
  std::vector<File> files_;
};

using Shards = ShardsOf<io::FileHandle>;

}  // namespace lazymoe::storage::detail
