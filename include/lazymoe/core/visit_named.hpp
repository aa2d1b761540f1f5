#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "error.hpp"

namespace lazymoe {

/// Calls `fn(tag)` for the tag whose type has the given name: what every registry of named policies does.
///
/// A tag is an empty value with a nested `type`, as `boost::hana::type<P>`; `kind` is what a message calls
/// the things of this registry. The results of `fn` are converted to their common type.
/// @throws Error{bad_argument} listing the names, when none fits
template <class Fn, class... Tags>
auto visit_named(std::string_view kind, std::string_view name, Fn&& fn, Tags... tags)
    -> std::common_type_t<std::invoke_result_t<Fn&, Tags>...> {
  using Result = std::common_type_t<std::invoke_result_t<Fn&, Tags>...>;
  const auto refuse = [&] {
    std::string message = std::string(kind) + " \"" + std::string(name) + "\" is not one of";
    ((message += ' ', message += Tags::type::name), ...);
    return Error(Errc::bad_argument, message);
  };
  if constexpr (std::is_void_v<Result>) {
    if (!((name == Tags::type::name && (static_cast<void>(fn(tags)), true)) || ...)) throw refuse();
  } else {
    std::optional<Result> result;
    if (!((name == Tags::type::name && (result.emplace(fn(tags)), true)) || ...)) throw refuse();
    return *std::move(result);
  }
}

}  // namespace lazymoe
