#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "../../core/bytes.hpp"
#include "../../core/error.hpp"
#include "../../core/types.hpp"
#include "../limits.hpp"

namespace lazymoe::gguf::detail {

/// Thrown and caught within parse(): the header goes on past the bytes given, but may still lie within the file.
struct Beyond {
  Bytes needed;  ///< from the beginning of the file, at least
};

/// Walks the first bytes of a file, knowing how long the whole file is. Every step is checked against both.
/// `what` is for the message: "key 'general.name'".
class Cursor {
 public:
  /// @pre bytes.size() <= file_bytes
  Cursor(std::span<const std::byte> bytes, Bytes file_bytes, std::string_view file)
      : bytes_(bytes), file_bytes_(file_bytes), file_(file) {}

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] Bytes position() const noexcept { return position_; }
  /// Bytes between here and the end of the file.
  [[nodiscard]] Bytes left() const noexcept { return file_bytes_ - position_; }

  /// Checks that `n` more elements of at least `each` bytes can exist, before anything is allocated or read.
  /// @throws Error{bad_file}
  void expect_in_file(std::uint64_t n, Bytes each, std::string_view what) const {
    if (n > left() / each) {
      fail("ends within " + std::string(what) + ": " + std::to_string(n) + (each == 1 ? " bytes" : " elements") +
           " wanted at offset " + std::to_string(position_) + ", " + std::to_string(left()) + " bytes left");
    }
    if (n * each > Limits::header_bytes - position_) {
      fail("has a header of more than " + std::to_string(Limits::header_bytes) + " bytes, reached at " +
           std::string(what));
    }
  }

  /// Checks that `n` more bytes were given.
  /// @pre expect_in_file(n, 1) passed
  void expect_at_hand(Bytes n) const {
    if (n > bytes_.size() - position_) throw Beyond{position_ + n};
  }

  /// The next `n` bytes.
  /// @throws Error{bad_file} when the file has fewer, Beyond when it has them but they were not given
  [[nodiscard]] std::span<const std::byte> take(Bytes n, std::string_view what) {
    expect_in_file(n, 1, what);
    expect_at_hand(n);
    const auto taken = bytes_.subspan(static_cast<std::size_t>(position_), static_cast<std::size_t>(n));
    position_ += n;
    return taken;
  }

  template <class T>
  [[nodiscard]] T read(std::string_view what) {
    return load_as<T>(take(sizeof(T), what).data());
  }

  /// A u64 length and that many bytes.
  [[nodiscard]] std::string_view read_string(Bytes longest, std::string_view what) {
    const auto n = read<std::uint64_t>(what);
    expect_in_file(n, 1, what);
    if (n > longest) {
      fail(std::string(what) + " is " + std::to_string(n) + " bytes long, at most " + std::to_string(longest) +
           " are allowed");
    }
    const auto taken = take(n, what);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  [[noreturn]] void fail(const std::string& reason) const { throw Error(Errc::bad_file, file_ + ": " + reason); }

 private:
  std::span<const std::byte> bytes_;
  Bytes file_bytes_;
  std::string file_;
  Bytes position_ = 0;
};

}  // namespace lazymoe::gguf::detail
