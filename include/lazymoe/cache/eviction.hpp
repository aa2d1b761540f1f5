#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "../core/types.hpp"

namespace lazymoe::cache {

// clang-format off

/// The events of an eviction policy, described there: also what only a replay can feed, as Belady.
template <class P>
concept EvictionEvents = std::movable<P> && requires(P policy, ExpertKey key, bool (*pred)(ExpertKey)) {
  { P::name } -> std::convertible_to<std::string_view>;
  { policy.on_insert(key) } noexcept -> std::same_as<void>;
  { policy.on_hit(key) } noexcept -> std::same_as<void>;
  { policy.on_erase(key) } noexcept -> std::same_as<void>;
  { policy.victim(pred) } -> std::same_as<std::optional<ExpertKey>>;
};

/// Decides which resident expert leaves. Knows keys only: no bytes, no files, no statistics.
///
/// Events reach it in program order from one thread (the store holds its lock):
///   on_insert(k)   k has become resident
///   on_hit(k)      k was asked for while resident
///   on_erase(k)    k is resident no longer, whoever decided it
///   victim(pred)   a resident key with pred(key), or nullopt if there is none;
///                  does not remove it: on_erase follows
/// Laws, checked for every policy by tests/cache/eviction_laws.hpp:
///   1. a victim is resident and satisfies pred
///   2. some resident key satisfies pred => a victim is returned
///   3. equal histories give equal victims
///   4. nothing is allocated after construction
///
/// Sizes need not be known: the store lets only experts of equal size compete, with a policy for each size of slot.
template <class P>
concept EvictionPolicy = std::constructible_from<P, KeySpace> && EvictionEvents<P>;

/// An eviction policy that may also refuse that a guess takes the place of a victim; the guess is not read then. What is
/// asked for needs its place whatever the policy thinks.
template <class P>
concept AdmittingPolicy = EvictionPolicy<P> && requires(const P policy, ExpertKey key) {
  { policy.admit(key, key) } noexcept -> std::same_as<bool>;  // (guess, victim)
};

/// An eviction policy that spares some experts whatever happens to the others, and says which: for counting.
template <class P>
concept PinningPolicy = EvictionPolicy<P> && requires(const P policy, ExpertKey key) {
  { policy.pins(key) } noexcept -> std::same_as<bool>;
};

// clang-format on

/// Whether the policy spares `key` whatever happens to the others.
template <EvictionPolicy P>
[[nodiscard]] bool pins([[maybe_unused]] const P& policy, [[maybe_unused]] ExpertKey key) noexcept {
  if constexpr (PinningPolicy<P>) {
    return policy.pins(key);
  } else {
    return false;
  }
}

}  // namespace lazymoe::cache
