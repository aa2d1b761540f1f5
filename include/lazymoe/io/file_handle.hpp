#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "../core/error.hpp"
#include "../core/types.hpp"

namespace lazymoe::io {

/// What reads a file; tests put faulty ones in its place.
struct SystemRead {
  /// As pread(2): how many bytes came, 0 at the end of the file, or -1 and errno.
  ssize_t operator()(int descriptor, std::span<std::byte> into, off_t offset) const noexcept {
    return ::pread(descriptor, into.data(), into.size(), offset);
  }
};

/// A regular file open for reading; its size is taken once, when it is opened.
///
/// @thread reading is safe from several threads: there is no file position
class FileHandle {
 public:
  /// @throws Error{io} when the file cannot be opened or is not a regular file
  explicit FileHandle(std::filesystem::path path) : path_(std::move(path)) {
    // O_NONBLOCK: opening a named pipe must fail below, not wait for a writer. It means nothing to regular files.
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) throw_errno("open", path_.string());
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
      const int code = errno;
      close();
      errno = code;
      throw_errno("stat", path_.string());
    }
    if (!S_ISREG(status.st_mode)) {
      close();
      throw Error(Errc::io, path_.string() + ": is " + (S_ISDIR(status.st_mode) ? "a directory" : "a special file") +
                                ", not a regular file");
    }
    bytes_ = static_cast<Bytes>(status.st_size);
  }

  FileHandle(FileHandle&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~FileHandle() { close(); }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

  /// How often in a row a read is tried again that would have to wait (EAGAIN).
  static constexpr int most_refusals = 100;

  /// Fills `into` from `offset`.
  /// @throws Error{io} when reading fails or the file ends too early
  template <class ReadAt = SystemRead>
  void read_exact_at(std::uint64_t offset, std::span<std::byte> into, ReadAt&& read_at = {}) const {
    constexpr std::uint64_t furthest = std::numeric_limits<off_t>::max();
    std::size_t done = 0;
    int refusals = 0;
    while (done < into.size()) {
      const std::uint64_t from = offset + done;
      if (from < offset || from > furthest) fail_short(offset, into.size(), done);
      const ssize_t got = read_at(descriptor_, into.subspan(done), static_cast<off_t>(from));
      if (got > 0) {
        done += static_cast<std::size_t>(got);
        refusals = 0;
      } else if (got == 0) {
        fail_short(offset, into.size(), done);
      } else if (errno != EINTR && (errno != EAGAIN || ++refusals > most_refusals)) {
        throw_errno("read " + std::to_string(into.size()) + " bytes", path_.string(), from);
      }
    }
  }

 private:
  [[noreturn]] void fail_short(std::uint64_t offset, std::size_t wanted, std::size_t got) const {
    throw Error(Errc::io, path_.string() + ": wanted " + std::to_string(wanted) + " bytes at offset " +
                              std::to_string(offset) + ", got " + std::to_string(got) + ": the file ends there");
  }

  void close() noexcept {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::filesystem::path path_;
  int descriptor_ = -1;
  Bytes bytes_ = 0;
};

}  // namespace lazymoe::io
