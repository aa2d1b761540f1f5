#pragma once

#include <boost/hana/unpack.hpp>
#include <tuple>
#include <type_traits>

namespace lazymoe::test {

struct AsTuple {
  template <class... Types>
  constexpr std::type_identity<std::tuple<typename Types::type...>> operator()(Types...) const {
    return {};
  }
};

/// The types of a registry (a Hana tuple of hana::type) as TEMPLATE_LIST_TEST_CASE wants them.
template <const auto& registry>
using TypeList = typename decltype(boost::hana::unpack(registry, AsTuple{}))::type;

}  // namespace lazymoe::test
