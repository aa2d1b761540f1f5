#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../io/file_handle.hpp"
#include "metadata.hpp"
#include "parse.hpp"
#include "shards.hpp"
#include "tensor.hpp"

namespace lazymoe::gguf {

/// One file of a model.
struct Shard {
  std::filesystem::path path;
  Bytes bytes = 0;
};

/// A model in GGUF files: metadata and the place of every tensor, over all shards. Holds no file open.
///
/// @cost   opening reads the headers and, in each shard, at most as much again, or first_read, of the payload
/// @thread safe after construction
class File {
 public:
  /// Read before it is known how long the header is; small against the 5 to 15 MB of a vocabulary.
  static constexpr Bytes first_read = 256_KiB;

  /// Opens the model at `path`: its only file, or the first shard, beside which the others must lie.
  /// @throws Error{io, bad_file, bad_metadata, unsupported_type}
  explicit File(const std::filesystem::path& path)
      : File(path, [](const std::filesystem::path& shard) { return io::FileHandle(shard); }) {}

  /// The same for files that are not on a disk.
  /// @param  open opens a path for reading: as io::FileHandle, what it returns has bytes() and read_exact_at()
  template <class Open>
  File(const std::filesystem::path& path, Open&& open) {
    Header first = read_header(open(path), path, 0);
    const SplitKeys keys = read_split_keys(first.metadata);
    const auto paths = shard_paths(path, keys);
    if (keys.no != 0) {
      throw Error(Errc::bad_file, path.string() + ": is shard " + std::to_string(keys.no + 1) + " of " +
                                      std::to_string(keys.count) + "; open the first, " + paths.front().string());
    }
    metadata_ = std::move(first.metadata);
    tensors_ = std::move(first.tensors);
    for (std::uint32_t no = 1; no < keys.count; ++no) {
      const auto open_shard = [&] {
        try {
          return open(paths[no]);
        } catch (const Error& error) {
          throw Error(error.code(), std::string(error.what()) + "; it is shard " + std::to_string(no + 1) + " of " +
                                        std::to_string(keys.count) + " of " + path.string());
        }
      };
      Header header = read_header(open_shard(), paths[no], no);
      check_shard(header.metadata, no, keys.count);
      std::move(header.tensors.begin(), header.tensors.end(), std::back_inserter(tensors_));
    }
    by_name_ = index_tensors(tensors_, keys, path.string());
  }

  /// File name of the first shard, without its directory.
  [[nodiscard]] std::string name() const { return shards_.front().path.filename().string(); }

  /// Metadata of the first shard; later shards carry none of their own.
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }

  /// All tensors, shard by shard, each in file order.
  [[nodiscard]] std::span<const TensorInfo> tensors() const noexcept { return tensors_; }

  [[nodiscard]] std::span<const Shard> shards() const noexcept { return shards_; }

  /// Paths of the shards, as storages are opened with them.
  [[nodiscard]] std::vector<std::filesystem::path> paths() const {
    std::vector<std::filesystem::path> all;
    for (const Shard& shard : shards_) all.push_back(shard.path);
    return all;
  }

  /// @cost O(log n)
  [[nodiscard]] const TensorInfo* find(std::string_view name) const noexcept {
    const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                        [&](std::uint32_t i, std::string_view key) { return tensors_[i].name < key; });
    return found != by_name_.end() && tensors_[*found].name == name ? &tensors_[*found] : nullptr;
  }

  /// What opening read.
  [[nodiscard]] Bytes header_bytes_read() const noexcept { return header_bytes_read_; }

 private:
  /// Reads more until the header is complete, at least doubling each time.
  template <class Opened>
  [[nodiscard]] Header read_header(const Opened& file, const std::filesystem::path& path, std::uint32_t shard) {
    shards_.push_back({path, file.bytes()});
    std::vector<std::byte> head;
    Bytes wanted = first_read;
    for (;;) {
      const std::size_t had = head.size();
      head.resize(static_cast<std::size_t>(std::min(wanted, file.bytes())));
      file.read_exact_at(had, std::span(head).subspan(had));
      header_bytes_read_ += head.size() - had;
      auto result = parse(head, file.bytes(), path.string(), shard);
      if (auto* const header = std::get_if<Header>(&result)) return std::move(*header);
      wanted = std::max<Bytes>(std::get<NeedMore>(result).bytes, 2 * head.size());
    }
  }

  Metadata metadata_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::uint32_t> by_name_;
  std::vector<Shard> shards_;
  Bytes header_bytes_read_ = 0;
};

}  // namespace lazymoe::gguf
