#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "../core/types.hpp"
#include "../core/visit_named.hpp"
#include "source.hpp"

namespace lazymoe::store {

// clang-format off

/// Guesses which experts come next. The store reads them while its storage is idle, into slots that the present token
/// does not need, and forgets guesses of layers that have been passed.
///
///   p.on_route(event, space, want)  what a router chose; want(layer, experts) names guesses, the likeliest first
///   p.lookahead()                   how far ahead the model shall ask its own routers: their answers are guesses, too
/// Laws, checked by tests/store/prefetch_laws.hpp:
///   1. nothing but layers and experts of the space is wanted
///   2. equal histories want the same
template <class P>
concept PrefetchPolicy =
    std::movable<P> && std::default_initializable<P> &&
    requires(P p, const P c, const RouteEvent& event, KeySpace space,
             void (*want)(LayerIndex, std::span<const ExpertIndex>)) {
      { P::name } -> std::convertible_to<std::string_view>;
      p.on_route(event, space, want);
      { c.lookahead() } noexcept -> std::same_as<Lookahead>;
    };

// clang-format on

/// Reads nothing that was not asked for.
struct NoPrefetch {
  static constexpr std::string_view name = "none";
  template <class Want>
  void on_route(const RouteEvent&, KeySpace, Want&&) const noexcept {}
  [[nodiscard]] Lookahead lookahead() const noexcept { return {}; }
};

/// Guesses that the next layer will choose what it chose for the token before.
///
/// @memory the last choice of every layer
class SameAsLastToken {
 public:
  static constexpr std::string_view name = "same-as-last-token";

  template <class Want>
  void on_route(const RouteEvent& event, KeySpace space, Want&& want) {
    last_.resize(space.layers);
    last_[event.layer].assign(event.experts.begin(), event.experts.end());
    const LayerIndex next = (event.layer + 1) % space.layers;
    if (!last_[next].empty()) want(next, std::span<const ExpertIndex>(last_[next]));
  }
  [[nodiscard]] Lookahead lookahead() const noexcept { return {}; }

 private:
  std::vector<std::vector<ExpertIndex>> last_;
};

/// Asks the routers of the next layers, on the hidden state that the present layer's experts see: what the layers
/// between will add to it changes most choices little.
///
/// @source the prediction of Eliseev and Mazur, "Fast inference of Mixture-of-Experts language models with offloading",
///         2023, section 3.2
class GateLookahead {
 public:
  static constexpr std::string_view name = "gate-lookahead";

  GateLookahead() = default;
  explicit GateLookahead(Lookahead lookahead) : lookahead_(lookahead) {}

  template <class Want>
  void on_route(const RouteEvent&, KeySpace, Want&&) const noexcept {}
  [[nodiscard]] Lookahead lookahead() const noexcept { return lookahead_; }

 private:
  Lookahead lookahead_{.depth = 1};
};

static_assert(PrefetchPolicy<NoPrefetch> && PrefetchPolicy<SameAsLastToken> && PrefetchPolicy<GateLookahead>);

/// One of them, chosen while the program runs.
class AnyPrefetch {
 public:
  static constexpr std::string_view name = "any";
  static constexpr std::array<std::string_view, 3> names{NoPrefetch::name, SameAsLastToken::name, GateLookahead::name};

  AnyPrefetch() = default;
  template <class P>
    requires(!std::same_as<P, AnyPrefetch>) && PrefetchPolicy<P>  // in this order: the second asks for this constructor
  explicit AnyPrefetch(P policy) : policy_(std::move(policy)) {}

  template <class Want>
  void on_route(const RouteEvent& event, KeySpace space, Want&& want) {
    std::visit([&](auto& policy) { policy.on_route(event, space, want); }, policy_);
  }
  /// The policy of that name, where `lookahead` is for the one that looks ahead.
  /// @throws Error{bad_argument} listing the names, when there is none
  [[nodiscard]] static AnyPrefetch of(std::string_view policy, Lookahead lookahead = GateLookahead().lookahead()) {
    const auto make = [&](auto tag) {
      using P = typename decltype(tag)::type;
      if constexpr (std::constructible_from<P, Lookahead>) {
        return AnyPrefetch(P(lookahead));
      } else {
        return AnyPrefetch(P());
      }
    };
    return visit_named("prefetch policy", policy, make, std::type_identity<NoPrefetch>{},
                       std::type_identity<SameAsLastToken>{}, std::type_identity<GateLookahead>{});
  }

  [[nodiscard]] Lookahead lookahead() const noexcept {
    return std::visit([](const auto& policy) { return policy.lookahead(); }, policy_);
  }

 private:
  std::variant<NoPrefetch, SameAsLastToken, GateLookahead> policy_;
};
static_assert(PrefetchPolicy<AnyPrefetch>);

}  // namespace lazymoe::store
