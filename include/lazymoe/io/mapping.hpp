#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "../core/bytes.hpp"
#include "../core/error.hpp"
#include "file_handle.hpp"

namespace lazymoe::io {

/// A whole file mapped into memory, read-only. The handle may be closed afterwards.
///
/// @pre    nobody truncates the file meanwhile: touching a page that is gone raises SIGBUS
/// @memory address space only; pages come and go with the page cache
/// @thread safe
class Mapping {
 public:
  /// @throws Error{io}
  explicit Mapping(const FileHandle& file) : bytes_(static_cast<std::size_t>(file.bytes())) {
    if (bytes_ == 0) return;  // mmap refuses empty mappings
    void* const data = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file.descriptor(), 0);
    if (data == MAP_FAILED) throw_errno("map", file.path().string());
    data_ = static_cast<std::byte*>(data);
  }

  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
  }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }

  /// Hint: `n` bytes at `offset` will be read soon. Rounds outward to pages; what lies past the end is ignored.
  void advise_will_need(std::uint64_t offset, std::uint64_t n) const noexcept {
    const std::size_t begin = align_down(clamp(offset), page_bytes());
    const std::size_t end = clamp_end(offset, n);
    if (begin < end) ::madvise(data_ + begin, end - begin, MADV_WILLNEED);
  }

  /// Unmaps the pages that lie wholly within `n` bytes at `offset`; neighbours keep theirs. The bytes read the
  /// same afterwards, at the price of a fault.
  void discard(std::uint64_t offset, std::uint64_t n) const noexcept {
    const std::size_t end_byte = clamp_end(offset, n);
    const std::size_t begin = align_up(clamp(offset), page_bytes());
    const std::size_t end = end_byte == bytes_ ? bytes_ : align_down(end_byte, page_bytes());
    if (begin < end) ::madvise(data_ + begin, end - begin, MADV_DONTNEED);
  }

 private:
  [[nodiscard]] static std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
  [[nodiscard]] std::size_t clamp(std::uint64_t at) const noexcept { return std::min<std::uint64_t>(at, bytes_); }
  [[nodiscard]] std::size_t clamp_end(std::uint64_t offset, std::uint64_t n) const noexcept {
    return clamp(checked_add(offset, n).value_or(bytes_));
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace lazymoe::io
