#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "../core/error.hpp"
#include "../core/types.hpp"

namespace lazymoe::io {

/// Parts of a file that is far away, kept on disk: a slice that was put in is found again by its offset and length,
/// also by later processes.
///
/// Two files: NAME.slices, as long as the far one and as sparse as what is missing, and NAME.index, a line for each
/// slice with the checksum of its bytes, written after them. A slice is found only if its bytes still have that
/// checksum, so that what a crash, a full disk or another writer left half-written never is.
/// @memory a hundred bytes a slice
/// @thread safe; several processes may share a folder
class SliceCache {
 public:
  /// @param  identity what tells the far file, in this state, from all others; a file that changes has another
  /// @throws Error{io} if the folder cannot be made or written
  SliceCache(const std::filesystem::path& folder, std::string_view name, std::string_view identity) {
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (failure) throw Error(Errc::io, folder.string() + ": cannot make the folder: " + failure.message());
    std::string stem = readable(name);
    stem += '-' + hex(checksum(0, std::as_bytes(std::span(identity))));
    const auto index = folder / (stem + ".index");
    read_index(index);
    slices_ = Descriptor(folder / (stem + ".slices"), O_RDWR | O_CREAT | O_CLOEXEC);
    index_ = Descriptor(index, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
  }

  /// Fills `into` if the slice is there whole.
  [[nodiscard]] bool find(Bytes offset, std::span<std::byte> into) const {
    std::uint64_t expected = 0;
    {
      const std::lock_guard lock(mutex_);
      const auto found = known_.find({offset, into.size()});
      if (found == known_.end()) return false;
      expected = found->second;
    }
    for (std::size_t done = 0; done < into.size();) {
      const auto rest = into.subspan(done);
      const ssize_t got = ::pread(slices_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      done += static_cast<std::size_t>(got);
    }
    return checksum(offset, into) == expected;
  }

  /// Keeps a slice; one that cannot be written is not kept.
  void put(Bytes offset, std::span<const std::byte> bytes) noexcept {
    try {
      const std::uint64_t sum = checksum(offset, bytes);
      const std::string line = hex(offset) + ' ' + hex(bytes.size()) + ' ' + hex(sum) + '\n';
      if (!write_all(offset, bytes)) return;
      const std::lock_guard lock(mutex_);
      known_.insert_or_assign({offset, bytes.size()}, sum);
      (void)!::write(index_.get(), line.data(), line.size());  // a line that is not whole will be skipped
    } catch (const std::bad_alloc&) {
    }
  }

  /// Slices that were put in, by this process or those before it.
  [[nodiscard]] std::size_t n_slices() const {
    const std::lock_guard lock(mutex_);
    return known_.size();
  }

 private:
  class Descriptor {
   public:
    Descriptor() = default;
    Descriptor(const std::filesystem::path& path, int flags) : number_(::open(path.c_str(), flags, 0644)) {
      if (number_ < 0) throw_errno("open", path.string());
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(Descriptor&& other) noexcept {
      std::swap(number_, other.number_);
      return *this;
    }
    ~Descriptor() {
      if (number_ >= 0) ::close(number_);
    }
    [[nodiscard]] int get() const noexcept { return number_; }

   private:
    int number_ = -1;
  };

  static constexpr std::size_t line_bytes = 3 * 17;  ///< three numbers of 16 digits, and what follows them

  static std::string hex(std::uint64_t value) {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
    return text.data();
  }

  /// What of a name is harmless in the name of a file.
  static std::string readable(std::string_view name) {
    constexpr std::size_t longest = 80;
    std::string text(name.substr(0, longest));
    std::ranges::replace_if(
        text, [](char c) { return std::string_view("/\\?*:%").find(c) != std::string_view::npos || c <= ' '; }, '_');
    return text;
  }

  void read_index(const std::filesystem::path& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::array<unsigned long long, 3> n{};
      int end = 0;
      // A line that a crash cut short may have the next one behind it.
      if (line.size() + 1 == line_bytes &&
          std::sscanf(line.c_str(), "%16llx %16llx %16llx%n", &n[0], &n[1], &n[2], &end) == 3 &&
          static_cast<std::size_t>(end) == line.size()) {
        known_.insert_or_assign({Bytes{n[0]}, Bytes{n[1]}}, std::uint64_t{n[2]});
      }
    }
  }

  bool write_all(Bytes offset, std::span<const std::byte> bytes) noexcept {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto rest = bytes.subspan(done);
      const ssize_t put = ::pwrite(slices_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + done));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      done += static_cast<std::size_t>(put);
    }
    return true;
  }

  /// Not against malice: a change of any one word changes it. Four chains, as one would wait for its multiplications.
  static std::uint64_t checksum(std::uint64_t seed, std::span<const std::byte> bytes) noexcept {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;
    const auto step = [](std::uint64_t h, std::uint64_t word) {
      h = (h ^ word) * odd;
      return h ^ (h >> 32);
    };
    std::array<std::uint64_t, 4> chains{seed, seed + 1, seed + 2, seed + 3};
    std::size_t at = 0;
    for (; bytes.size() - at >= 32; at += 32) {
      std::array<std::uint64_t, 4> words;
      std::memcpy(words.data(), bytes.data() + at, sizeof words);
      for (std::size_t i = 0; i < 4; ++i) chains[i] = step(chains[i], words[i]);
    }
    std::uint64_t h = bytes.size();
    for (; at < bytes.size(); ++at) h = step(h, static_cast<std::uint64_t>(bytes[at]));
    for (const std::uint64_t chain : chains) h = step(h, chain);
    return h;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<Bytes, Bytes>, std::uint64_t> known_;  ///< checksums by offset and length; guarded by mutex_
  Descriptor slices_;
  Descriptor index_;
};

}  // namespace lazymoe::io
