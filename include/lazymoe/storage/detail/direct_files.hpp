#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../../core/bytes.hpp"
#include "../../core/contract.hpp"
#include "../../core/error.hpp"
#include "../../core/types.hpp"
#include "../../experts/slice.hpp"
#include "../../io/file_handle.hpp"
#include "shards.hpp"

namespace lazymoe::storage::detail {

/// A slice rounded outward to whole blocks, and where its bytes go.
struct DirectRead {
  const io::FileHandle* file = nullptr;
  int descriptor = -1;                    ///< of the file, open for direct reads unless its file system refuses them
  Bytes offset = 0;                       ///< in the file, at the begin of a block
  std::span<std::byte> into = {};         ///< whole blocks, at an address that is a multiple of a block
  std::size_t needed = 0;                 ///< bytes of `into` up to the end of the slice: the file may end there
  std::span<const std::byte> slice = {};  ///< the part of `into` that was asked for

  /// What direct reads refuse (EINVAL), and what is left after they ended within a block, comes through the page cache.
  /// @param  done bytes read so far
  /// @throws Error{io}
  template <class ReadAt>
  void complete(std::size_t done, const ReadAt& read_at) const {
    if (done < needed) file->read_exact_at(offset + done, into.subspan(done, needed - done), read_at);
  }

  /// @throws Error{io} that says why, of errno
  [[noreturn]] void fail(std::size_t done) const {
    throw_errno("read " + std::to_string(slice.size()) + " bytes", file->path().string(), offset + done);
  }
};

/// The files of a model open twice: as Shards are, and for reads that go past the page cache (O_DIRECT).
class DirectFiles {
 public:
  /// Direct reads begin and end at multiples of it, in files and in memory; devices with blocks of 512 bytes are
  /// content.
  static constexpr std::size_t block = 4096;

  /// How much larger than a slice its scratch must be: it is rounded at both ends, and may begin anywhere in memory.
  static constexpr std::size_t padding = 3 * (block - 1);

  /// @throws Error{io}
  explicit DirectFiles(std::span<const std::filesystem::path> paths) : shards_(paths) {
    for (const io::FileHandle& file : shards_.files()) {
      // By its descriptor, not by its name, which may mean another file by now.
      const std::string same = "/proc/self/fd/" + std::to_string(file.descriptor());
      direct_.emplace_back(::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
      if (direct_.back().get() < 0) {
        notes_.push_back(file.path().string() +
                         ": the file system refuses direct reads; they go through the page cache");
      }
    }
  }

  /// A sentence for each file that is read through the page cache after all.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

  [[nodiscard]] static Bytes footprint(const experts::SliceRef& slice) noexcept {
    return slice.bytes == 0 ? 0 : slice.bytes + padding;
  }

  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io} if the slice is not inside its file
  [[nodiscard]] DirectRead plan(const experts::SliceRef& slice, std::span<std::byte> scratch) const {
    const io::FileHandle& file = shards_.file_of(slice);
    if (slice.bytes == 0) return {.file = &file, .slice = scratch.first(0)};
    LAZYMOE_EXPECTS(scratch.size() >= footprint(slice));
    const Bytes begin = align_down(slice.offset, block);
    const auto head = static_cast<std::size_t>(slice.offset - begin);
    const auto needed = head + static_cast<std::size_t>(slice.bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
    const auto into = scratch.subspan(align_up(address, block) - address, align_up(needed, block));
    const int direct = direct_[slice.shard].get();
    return {.file = &file,
            .descriptor = direct >= 0 ? direct : file.descriptor(),
            .offset = begin,
            .into = into,
            .needed = needed,
            .slice = into.subspan(head, static_cast<std::size_t>(slice.bytes))};
  }

  /// Reads a slice.
  /// @pre    scratch.size() >= footprint(slice)
  /// @throws Error{io}
  template <class ReadAt>
  [[nodiscard]] std::span<const std::byte> read(const experts::SliceRef& slice, std::span<std::byte> scratch,
                                                const ReadAt& read_at) const {
    const DirectRead read = plan(slice, scratch);
    std::size_t done = 0;
    int refusals = 0;
    while (done < read.needed) {
      const ssize_t got = read_at(read.descriptor, read.into.subspan(done), static_cast<off_t>(read.offset + done));
      if (got < 0 && (errno == EINTR || (errno == EAGAIN && ++refusals <= io::FileHandle::most_refusals))) continue;
      if (got < 0 && errno != EINVAL) read.fail(done);
      if (got > 0) done += static_cast<std::size_t>(got);
      if (got <= 0 || done % block != 0) break;
    }
    read.complete(done, read_at);
    return read.slice;
  }

 private:
  class Descriptor {
   public:
    explicit Descriptor(int descriptor) noexcept : descriptor_(descriptor) {}
    Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
      std::swap(descriptor_, other.descriptor_);
      return *this;
    }
    ~Descriptor() {
      if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int get() const noexcept { return descriptor_; }

   private:
    int descriptor_;
  };

  Shards shards_;
  std::vector<Descriptor> direct_;  ///< by shard; negative: refused
  std::vector<std::string> notes_;
};

}  // namespace lazymoe::storage::detail
