#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "../core/types.hpp"
#include "../experts/slice.hpp"

namespace lazymoe::storage {

// clang-format off

/// Brings the bytes of a slice of the model's files into memory. Knows files only: no experts, no budget.
///
///   S(paths)                 opens the shards, in the order SliceRef::shard counts them; Error{io} if one cannot be
///   s.footprint(slice)       bytes of scratch that fetch needs; 0: fetch returns a view of its own; more than the
///                            slice where reads must begin and end at whole blocks
///   s.fetch(slice, scratch)  the bytes of the slice
/// Laws, checked for every storage by tests/storage/storage_laws.hpp:
///   1. fetch returns slice.bytes bytes, equal to the file's, for any offset and length inside it
///   2. they lie in scratch, or live as long as s where footprint is 0
///   3. several threads may fetch at once
///   4. a slice that is not inside its file gives Error{io} naming the file and the offset, and s stays usable
///   5. footprint is 0 for every slice, or what it exceeds the slice by is the same for all that are not empty
template <class S>
concept StoragePolicy =
    std::constructible_from<S, std::span<const std::filesystem::path>> && std::movable<S> &&
    requires(S storage, const experts::SliceRef& slice, std::span<std::byte> scratch) {
      { S::name } -> std::convertible_to<std::string_view>;
      { storage.footprint(slice) } noexcept -> std::same_as<Bytes>;
      { storage.fetch(slice, scratch) } -> std::same_as<std::span<const std::byte>>;
    };

/// What the footprint of a slice exceeds the slice by.
template <StoragePolicy S>
[[nodiscard]] Bytes padding(S& storage) noexcept {
  const Bytes footprint = storage.footprint({.shard = 0, .offset = 0, .bytes = 1});
  return footprint == 0 ? 0 : footprint - 1;
}

/// A read that is over.
struct Completed {
  std::uint64_t tag = 0;                  ///< as given to submit()
  std::span<const std::byte> bytes = {};  ///< as fetch would have returned
  std::exception_ptr failure = nullptr;   ///< or what it would have thrown
};

/// A read that end() has ended by what it returned or threw.
template <class End>
[[nodiscard]] Completed completed(std::uint64_t tag, End&& end) noexcept {
  try {
    return {.tag = tag, .bytes = end()};
  } catch (...) {
    return {.tag = tag, .failure = std::current_exception()};
  }
}

/// A storage that can have many reads under way without a thread for each.
///
///   s.submit(slice, scratch, tag)  begins a fetch, whose scratch stays alive and untouched until it is over; if it
///                                  throws, nothing has begun
///   s.next()                       blocks until a read is over that was not told of before; at least one must be left
///   s.poll()                       tells of such a read if one is over already
/// Laws, checked by tests/storage/async_laws.hpp:
///   1. next and poll tell of every read once, in any order, as fetch would have ended it; poll does so in the end
///   2. several threads may submit and fetch while one is in next or poll
///   3. reads under way when s dies are over when its destructor returns
template <class S>
concept AsyncStorage =
    StoragePolicy<S> && requires(S storage, const experts::SliceRef& slice, std::span<std::byte> scratch,
                                 std::uint64_t tag) {
      { storage.submit(slice, scratch, tag) } -> std::same_as<void>;
      { storage.next() } -> std::same_as<Completed>;
      { storage.poll() } -> std::same_as<std::optional<Completed>>;
    };

/// A storage that can begin to bring a slice nearer without waiting for it. A hint changes no result, and a
/// slice outside its file is ignored.
template <class S>
concept HintedStorage = StoragePolicy<S> && requires(S storage, const experts::SliceRef& slice) {
  { storage.will_need(slice) } noexcept -> std::same_as<void>;
};

/// A storage that can give back memory behind a slice. Views of it stay valid and read the same, but slowly;
/// a slice outside its file is ignored.
template <class S>
concept DiscardableStorage = StoragePolicy<S> && requires(S storage, const experts::SliceRef& slice) {
  { storage.discard(slice) } noexcept -> std::same_as<void>;
};

// clang-format on

/// Whether submit() and next() are to be used: an asynchronous storage that is chosen while running may be none after
/// all, and says so by a member asynchronous().
template <StoragePolicy S>
[[nodiscard]] bool asynchronous(const S& storage) noexcept {
  if constexpr (requires { { storage.asynchronous() } noexcept -> std::same_as<bool>; }) {
    return storage.asynchronous();
  } else {
    return AsyncStorage<S>;
  }
}

}  // namespace lazymoe::storage
