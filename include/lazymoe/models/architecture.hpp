#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>

#include "../core/error.hpp"
#include "../gguf/metadata.hpp"
#include "../moe/router.hpp"
#include "qwen3moe.hpp"

namespace lazymoe::models {

/// What makes one family: how its configuration is read, which attention and router it composes.
///
/// Law: a tiny model of the family gives the reference's logits (tests/models/golden_test.cpp).
// clang-format off
template <class A>
concept ModelArchitecture =
    requires(const gguf::Metadata& metadata, const Config& config) {
      { A::name } -> std::convertible_to<std::string_view>;
      { A::read_config(metadata) } -> std::same_as<Config>;
      { A::router(config) } -> std::same_as<typename A::Router>;
      { A::rope(config) } -> std::same_as<tensor::RopeOptions>;
      typename A::Attention::State;
      typename A::Attention::Scratch;
    } && moe::Router<typename A::Router>;
// clang-format on
static_assert(ModelArchitecture<Qwen3Moe>);

/// Every family the library runs. To add one: write its trait, add it here, add its goldens.
inline constexpr auto architectures = boost::hana::tuple_t<Qwen3Moe>;

/// Calls `fn(hana::type<A>)` for the architecture of that name.
/// @throws Error{unsupported_model} listing the names there are
template <class Fn>
void visit_architecture(std::string_view name, std::string_view file, Fn&& fn) {
  bool found = false;
  std::string known;
  boost::hana::for_each(architectures, [&](auto architecture) {
    using A = typename decltype(architecture)::type;
    if (name == A::name) {
      found = true;
      fn(architecture);
    }
    known += (known.empty() ? "" : ", ") + std::string(A::name);
  });
  if (!found) {
    throw Error(Errc::unsupported_model, std::string(file) + ": architecture '" + std::string(name) +
                                             "' is not supported; these are: " + known);
  }
}

}  // namespace lazymoe::models
