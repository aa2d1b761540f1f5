#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "../core/contract.hpp"
#include "../core/types.hpp"
#include "../experts/slice.hpp"
#include "../io/remote_file.hpp"
#include "detail/shards.hpp"
#include "storage.hpp"

namespace lazymoe::storage {

/// Requests for ranges of files on HTTP servers: of a model at a URL only what is asked for is transferred.
///
/// Needs libcurl (link `lazymoe::curl`), so that no umbrella includes this header. A fetch is a request, and each that
/// is under way has a connection of its own: the further the server, the more of them at once are worth.
class Remote {
 public:
  static constexpr std::string_view name = "remote";

  /// @param  paths URLs
  /// @param  files those that opened the model's header, so that a change of the file since then is noticed
  /// @throws Error{io}, also where a server ignores ranges
  explicit Remote(std::span<const std::filesystem::path> paths, io::RemoteFiles files = io::RemoteFiles())
      : files_(std::move(files)), shards_(paths, [this](const auto& path) { return files_.open(path); }) {}

  [[nodiscard]] Bytes footprint(const experts::SliceRef& slice) const noexcept { return slice.bytes; }

  /// Blocks until the bytes are in scratch.
  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io}
  [[nodiscard]] std::span<const std::byte> fetch(const experts::SliceRef& slice, std::span<std::byte> scratch) const {
    const io::RemoteFile& file = shards_.file_of(slice);
    LAZYMOE_EXPECTS(scratch.size() >= slice.bytes);
    const auto into = scratch.first(static_cast<std::size_t>(slice.bytes));
    file.read_exact_at(slice.offset, into);
    return into;
  }

  /// Of all that share the connections.
  [[nodiscard]] io::Traffic traffic() const noexcept { return files_.traffic(); }

 private:
  io::RemoteFiles files_;
  detail::ShardsOf<io::RemoteFile> shards_;
};
static_assert(StoragePolicy<Remote> && !HintedStorage<Remote> && !DiscardableStorage<Remote>);

}  // namespace lazymoe::storage
