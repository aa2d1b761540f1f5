#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "../io/file_handle.hpp"
#include "detail/shards.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// Positioned reads through the page cache into scratch: the bytes are the caller's, no page fault comes later.
template <class ReadAt>
class BasicPread {
 public:
  static constexpr std::string_view name = "pread";

  /// @throws Error{io}
  explicit BasicPread(std::span<const std::filesystem::path> paths, ReadAt read_at = {})
      : shards_(paths), read_at_(std::move(read_at)) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept { return slice.bytes; }

  /// Blocks until the bytes are in scratch.
  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) const {
    const io::FileHandle& file = shards_.file_of(slice);
    LAZYMOE_EXPECTS(scratch.size() >= slice.bytes);
    const auto into = scratch.first(static_cast<std::size_t>(slice.bytes));
    file.read_exact_at(slice.offset, into, read_at_);
    return into;
  }

 private:
  detail::Shards shards_;
  ReadAt read_at_;
};

using Pread = BasicPread<io::SystemRead>;
static_assert(StoragePolicy<Pread> && !HintedStorage<Pread> && !DiscardableStorage<Pread>);

}  // namespace lazymoe::storage
