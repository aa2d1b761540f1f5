#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/buffer.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "detail/shards.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// Everything read into memory at the start: for tests, and for models that fit.
///
/// @memory the size of all shards
class Memory {
 public:
  static constexpr std::string_view name = "memory";

  /// @throws Error{io}, std::bad_alloc
  explicit Memory(std::span<const std::filesystem::path> paths) : shards_(paths) {
    contents_.reserve(paths.size());
    for (const auto& file : shards_.files()) {
      AlignedBuffer content(static_cast<std::size_t>(file.bytes()), AlignedBuffer::page);
      file.read_exact_at(0, content.bytes());
      contents_.push_back(std::move(content));
    }
  }

  [[nodiscard]] Bytes footprint(const experts::SliceRef&) const noexcept { return 0; }

  /// @throws Error{io} if the slice is not inside its file
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte>) const {
    (void)shards_.file_of(slice);
    return contents_[slice.shard].bytes().subspan(static_cast<std::size_t>(slice.offset),
                                                  static_cast<std::size_t>(slice.bytes));
  }

 private:
  detail::Shards shards_;
  std::vector<AlignedBuffer> contents_;
};
static_assert(StoragePolicy<Memory>);

}  // namespace lazymoe::storage
