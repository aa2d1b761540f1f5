#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>

#include "../core/error.hpp"
#include "../gguf/file.hpp"
#include "../gguf/metadata.hpp"
#include "deepseek2.hpp"
#include "glm4moe.hpp"
#include "gpt_oss.hpp"
#include "granitemoe.hpp"
#include "llama_moe.hpp"
#include "olmoe.hpp"
#include "qwen2moe.hpp"
#include "qwen35moe.hpp"
#include "qwen3moe.hpp"
#include "qwen3next.hpp"

namespace lazymoe::models {

/// What passes information between the tokens of a layer: an attention, a recurrence, or one of them by layer.
// clang-format off
template <class M>
concept TokenMixer =
    std::movable<M> && std::default_initializable<typename M::Scratch> && SequenceState<typename M::State> &&
    requires(M mixer, const M& bound, const Config& config, const SequenceOptions& options, WeightBinder& binder,
             LayerIndex layer, const tensor::Rope& rope, tensor::ConstRows x, typename M::State& state,
             typename M::Scratch& scratch, parallel::ThreadPool& pool, tensor::Rows out) {
      { M::new_state(config, options) } -> std::same_as<typename M::State>;
      mixer.bind(binder, config, layer);
      bound.run(config, rope, x, state, scratch, pool, out);
    };

/// What makes one family: how its configuration is read, and which mixer its layers have.
///
/// Law: a tiny model of the family gives the reference's logits (tests/models/golden_test.cpp).
template <class A>
concept ModelArchitecture =
    requires(const gguf::Metadata& metadata) {
      { A::name } -> std::convertible_to<std::string_view>;
      { A::read_config(metadata) } -> std::same_as<Config>;
    } && TokenMixer<typename A::Mixer>;
// clang-format on

/// The configuration of a file, by its metadata and, where a family has more to ask, by its tensors.
template <ModelArchitecture A>
[[nodiscard]] Config read_config(const gguf::File& file) {
  Config c = A::read_config(file.metadata());
  if constexpr (requires { A::adapt_config(file, c); }) A::adapt_config(file, c);
  return c;
}

/// Every family the library runs. To add one: write its trait, add it here, add its goldens.
inline constexpr auto architectures =
    boost::hana::tuple_t<Deepseek2, Glm4Moe, GptOss, GraniteMoe, LlamaMoe, Olmoe, Qwen2Moe, Qwen35Moe, Qwen3Moe,
                         Qwen3Next>;

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
