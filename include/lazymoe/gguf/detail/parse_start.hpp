#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "../limits.hpp"
#include "cursor.hpp"
#include "quote.hpp"

namespace lazymoe::gguf::detail {

inline constexpr std::string_view magic = "GGUF";

/// Magic, version, tensor count, key count.
inline constexpr Bytes start_bytes = 24;

/// The fixed part at the beginning of a file.
struct Start {
  std::uint32_t version;
  std::uint64_t n_tensors;
  std::uint64_t n_keys;
};

/// `text` begins with `prefix`, ASCII letters compared without case.
[[nodiscard]] inline bool begins_like(std::string_view text, std::string_view prefix) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return text.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), text.begin(), [&](char a, char b) { return lower(a) == lower(b); });
}

/// Says what the file seems to be, if it is not GGUF: these are the ways a download goes wrong.
inline void check_magic(const Cursor& cursor, std::string_view first) {
  if (begins_like(first, "version https://git-lfs")) {
    cursor.fail("is a Git LFS pointer, not the file it stands for; fetch it with 'git lfs pull'");
  }
  for (const std::string_view html : {"<!DOCTYPE", "<html", "<?xml"}) {
    if (begins_like(first, html)) {
      cursor.fail("starts with " + in_quotes(first.substr(0, html.size())) +
                  ", not with GGUF; it looks like a web page");
    }
  }
  const auto begin = first.substr(0, magic.size());
  if (begin != magic.substr(0, begin.size())) cursor.fail("starts with " + in_quotes(begin) + ", not with GGUF");
}

inline void check_version(const Cursor& cursor, std::uint32_t version) {
  if (version == 2 || version == 3) return;
  if (version == 1) cursor.fail("is GGUF version 1, which is obsolete; convert the model again");
  if (version != 0 && (version & 0xFFFFU) == 0) {
    cursor.fail("is a big-endian GGUF file; only little-endian ones are supported");
  }
  cursor.fail("is GGUF version " + std::to_string(version) + "; versions 2 and 3 are supported");
}

inline void check_count(const Cursor& cursor, std::uint64_t n, std::uint64_t most, Bytes least_bytes,
                        std::string_view what) {
  if (n > cursor.left() / least_bytes) {
    cursor.fail("claims " + std::to_string(n) + " " + std::string(what) + ", more than its remaining " +
                std::to_string(cursor.left()) + " bytes can hold");
  }
  if (n > most) {
    cursor.fail("claims " + std::to_string(n) + " " + std::string(what) + ", at most " + std::to_string(most) +
                " are allowed");
  }
}

/// @throws Error{bad_file}, Beyond
[[nodiscard]] inline Start parse_start(Cursor& cursor) {
  if (cursor.left() == 0) cursor.fail("is empty");
  {
    Cursor ahead = cursor;
    const auto first = ahead.take(std::min(cursor.left(), start_bytes), "the beginning");
    check_magic(cursor, {reinterpret_cast<const char*>(first.data()), first.size()});
  }
  if (cursor.left() < start_bytes) {
    cursor.fail("has " + std::to_string(cursor.left()) + " bytes, too short for a GGUF header");
  }
  (void)cursor.take(magic.size(), "the magic");
  Start start{};
  start.version = cursor.read<std::uint32_t>("the version");
  check_version(cursor, start.version);
  start.n_tensors = cursor.read<std::uint64_t>("the tensor count");
  start.n_keys = cursor.read<std::uint64_t>("the key count");
  // The smallest tensor: name length, dimension count, type, offset. The smallest key: length, a byte, type, a byte.
  check_count(cursor, start.n_tensors, Limits::tensors, 8 + 4 + 4 + 8, "tensors");
  check_count(cursor, start.n_keys, Limits::keys, 8 + 1 + 4 + 1, "keys");
  return start;
}

}  // namespace lazymoe::gguf::detail
