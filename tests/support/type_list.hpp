#pragma once

#include <boost/hana/unpack.hpp>
#include <tuple>

namespace lazymoe::test {

struct AsTuple {
  template <class... Types>
  constexpr std::tuple<typename Types::type...> operator()(Types...) const {
    return {};
  }
};

/// The types of a registry (a Hana tuple of hana::type) as TEMPLATE_LIST_TEST_CASE wants them.
template <const auto& registry>
using TypeList = decltype(boost::hana::unpack(registry, AsTuple{}));

}  // namespace lazymoe::test
