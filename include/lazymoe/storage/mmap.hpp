#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "../io/mapping.hpp"
#include "detail/shards.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// The files mapped: fetch returns a view at once, and the pages are read when they are first touched.
///
/// @pre    nobody truncates a file meanwhile
/// @memory the page cache's, beyond any budget, until discarded
class Mmap {
 public:
  static constexpr std::string_view name = "mmap";

  /// @throws Error{io}
  explicit Mmap(std::span<const std::filesystem::path> paths) : shards_(paths) {
    mappings_.reserve(paths.size());
    for (const auto& file : shards_.files()) mappings_.emplace_back(file);
  }

  [[nodiscard]] Bytes footprint(const experts::SliceRef&) const noexcept { return 0; }

  /// @throws Error{io} if the slice is not inside its file
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte>) const {
    (void)shards_.file_of(slice);
    return mappings_[slice.shard].bytes().subspan(static_cast<std::size_t>(slice.offset),
                                                  static_cast<std::size_t>(slice.bytes));
  }

  /// Lets the kernel read ahead.
  void will_need(const experts::SliceRef& slice) const noexcept {
    if (shards_.contains(slice)) mappings_[slice.shard].advise_will_need(slice.offset, slice.bytes);
  }

  /// Unmaps the whole pages inside the slice; the page cache may keep them.
  void discard(const experts::SliceRef& slice) const noexcept {
    if (shards_.contains(slice)) mappings_[slice.shard].discard(slice.offset, slice.bytes);
  }

 private:
  detail::Shards shards_;
  std::vector<io::Mapping> mappings_;
};
static_assert(HintedStorage<Mmap> && DiscardableStorage<Mmap>);

}  // namespace lazymoe::storage
