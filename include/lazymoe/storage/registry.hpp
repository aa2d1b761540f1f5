#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>
#include <string_view>
#include <utility>

#include "../core/visit_named.hpp"
#include "any_storage.hpp"
#include "direct.hpp"
#include "memory.hpp"
#include "mmap.hpp"
#include "pread.hpp"

namespace lazymoe::storage {

/// Every storage that can be chosen by name. To add one: write it, add it here, add its test.
inline constexpr auto storages = boost::hana::tuple_t<Memory, Mmap, Pread, Direct>;

/// The names of `storages`, in that order, and of those that a program adds (Uring, where it has liburing).
template <StoragePolicy... More>
[[nodiscard]] constexpr auto storage_names() noexcept {
  return boost::hana::unpack(storages, [](auto... storage) {
    return std::array<std::string_view, sizeof...(storage) + sizeof...(More)>{decltype(storage)::type::name...,
                                                                              More::name...};
  });
}

/// Calls `fn(hana::type<S>)` for the storage of that name: the one door from run time to compile time.
/// @throws Error{bad_argument} listing the names, when there is no such storage
template <StoragePolicy... More, class Fn>
auto visit_storage(std::string_view name, Fn&& fn) {
  return boost::hana::unpack(storages, [&](auto... storage) {
    return visit_named("storage", name, fn, storage..., boost::hana::type<More>{}...);
  });
}

/// The storage of that name, as a value.
/// @throws Error{bad_argument} listing the names, when there is no such storage; Error{io} if a file cannot be opened
template <StoragePolicy... More>
[[nodiscard]] AnyStorage make_storage(std::string_view name, std::span<const std::filesystem::path> paths) {
  std::optional<AnyStorage> made;
  visit_storage<More...>(name, [&](auto storage) { made.emplace(typename decltype(storage)::type(paths)); });
  return std::move(*made);
}

}  // namespace lazymoe::storage
