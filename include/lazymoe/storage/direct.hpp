#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "../io/file_handle.hpp"
#include "detail/direct_files.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// Positioned reads past the page cache (O_DIRECT): what is read is held once, in slots, and nothing else is pushed
/// out. Slices are rounded outward to whole blocks. Files that refuse are read through the page cache; see notes().
///
/// @source open(2), O_DIRECT
template <class ReadAt>
class BasicDirect {
 public:
  static constexpr std::string_view name = "direct";

  /// @throws Error{io}
  explicit BasicDirect(std::span<const std::filesystem::path> paths, ReadAt read_at = {})
      : files_(paths), read_at_(std::move(read_at)) {}

  /// A sentence for each file that is read through the page cache after all.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return files_.notes(); }

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept { return files_.footprint(slice); }

  /// Blocks until the bytes are in scratch.
  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) const {
    return files_.read(slice, scratch, read_at_);
  }

 private:
  detail::DirectFiles files_;
  ReadAt read_at_;
};

using Direct = BasicDirect<io::SystemRead>;
static_assert(StoragePolicy<Direct> && !HintedStorage<Direct> && !DiscardableStorage<Direct>);

}  // namespace lazymoe::storage
