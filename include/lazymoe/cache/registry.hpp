#pragma once

#include <array>
#include <optional>
#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>
#include <boost/hana/unpack.hpp>
#include <string_view>
#include <utility>

#include "../core/visit_named.hpp"
#include "any_eviction.hpp"
#include "fifo.hpp"
#include "layer_aware.hpp"
#include "least_stale.hpp"
#include "lfu.hpp"
#include "lfu_aged.hpp"
#include "lfu_ghost.hpp"
#include "lru.hpp"
#include "s3_fifo.hpp"
#include "sieve.hpp"
#include "w_tiny_lfu.hpp"

namespace lazymoe::cache {

/// Every eviction policy that can be chosen by name. To add one: write it, add it here, add its test.
inline constexpr auto evictions =
    boost::hana::tuple_t<Fifo, Lru, Lfu, LfuAged, LfuGhost, Sieve, S3Fifo, WTinyLfu, LeastStale>;

/// The names of `evictions`, in that order.
[[nodiscard]] constexpr auto eviction_names() noexcept {
  return boost::hana::unpack(evictions, [](auto... policy) {
    return std::array<std::string_view, sizeof...(policy)>{decltype(policy)::type::name...};
  });
}

/// Calls `fn(hana::type<P>)` for the policy of that name: the one door from run time to compile time.
/// @throws Error{bad_argument} listing the names, when there is no such policy
template <class Fn>
auto visit_eviction(std::string_view name, Fn&& fn) {
  return boost::hana::unpack(evictions,
                             [&](auto... policy) { return visit_named("eviction policy", name, fn, policy...); });
}

/// The policy of that name, as a value; a name with "layer-" before it is that policy made aware of layers.
/// @throws Error{bad_argument} listing the names, when there is no such policy
[[nodiscard]] inline AnyEviction make_eviction(std::string_view name, KeySpace space) {
  constexpr std::string_view layer_aware = "layer-";
  if (name.starts_with(layer_aware)) {
    AnyEviction inner = make_eviction(name.substr(layer_aware.size()), space);
    return AnyEviction(LayerAware<AnyEviction>(space, std::move(inner), (space.layers + 1) / 2));
  }
  std::optional<AnyEviction> made;
  visit_eviction(name, [&](auto policy) { made.emplace(typename decltype(policy)::type(space)); });
  return std::move(*made);
}

}  // namespace lazymoe::cache
