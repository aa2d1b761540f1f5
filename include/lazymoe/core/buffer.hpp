#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "bytes.hpp"

namespace lazymoe {

/// Owned bytes at an address that is a multiple of `alignment`; contents undefined at first.
///
/// @memory exactly `size()` rounded up to the alignment; untouched pages cost nothing
/// @throws std::bad_alloc
class AlignedBuffer {
 public:
  /// Direct I/O wants the page; SIMD is content with less.
  static constexpr std::size_t page = 4096;

  AlignedBuffer() = default;

  explicit AlignedBuffer(std::size_t size, std::size_t alignment = 64) : size_(size) {
    if (size == 0) return;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, align_up(size, alignment))));
    if (!data_) throw std::bad_alloc();
  }

  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
  [[nodiscard]] const std::byte* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

/// Owned, 64-byte aligned array of plain values, zero at first.
template <class T>
  requires std::is_trivially_copyable_v<T>
class AlignedArray {
 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t size) : buffer_(size * sizeof(T)) {
    std::uninitialized_value_construct_n(data(), size);
  }

  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size() / sizeof(T); }
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(buffer_.data()); }
  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(buffer_.data()); }
  [[nodiscard]] std::span<T> span() noexcept { return {data(), size()}; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size()}; }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }

 private:
  AlignedBuffer buffer_;
};

}  // namespace lazymoe
