#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../core/types.hpp"
#include "lease.hpp"

namespace lazymoe::store {

/// What the router of one layer chose for one token.
struct RouteEvent {
  LayerIndex layer = 0;
  std::size_t position = 0;                ///< of the token in its sequence
  std::span<const ExpertIndex> experts;    ///< heaviest first
  std::span<const float> weights;          ///< as they multiply the outputs
};

/// What experts are asked for: one token after another comes back to them, a prompt's many tokens pass over nearly all.
enum class Use : std::uint8_t { step, prompt };

/// How far ahead a source wants to hear what routers will probably choose.
struct Lookahead {
  std::size_t depth = 0;  ///< layers after the present one; 0: it does not want to
  std::size_t width = 0;  ///< experts a token and layer; 0: as many as the router chooses
};

/// Where models get their experts: the one virtual seam of the library. It is crossed once per layer and group of
/// experts, before milliseconds of arithmetic; below it everything is static.
///
/// @thread all members may be called from many threads; a thread must not call acquire() while it holds leases of the
///         same source, as it would wait for itself when slots are short
class ExpertSource {
 public:
  virtual ~ExpertSource() = default;

  /// Pins as many of the experts as can be held at once, from the first on, until the Leases die; begins to read those
  /// of them that are missing.
  ///
  /// @shape  experts[k], distinct -> Leases of size n, in the same order; 1 <= n <= k, or 0 of 0
  /// @throws Error{io} when a read fails (here or in Leases::wait): nothing stays pinned, the source stays usable
  /// @thread equal experts of concurrent calls are read once
  [[nodiscard]] virtual Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts, Use use) = 0;

  /// Whether acquire() would find the expert in memory; a hint, as other threads may be at work.
  [[nodiscard]] virtual bool resident(LayerIndex layer, ExpertIndex expert) const = 0;

  /// Tells what a router chose, before the experts are asked for.
  virtual void on_route(const RouteEvent&) {}

  /// What this source wants expect() to be told.
  [[nodiscard]] virtual Lookahead lookahead() const noexcept { return {}; }

  /// Tells which experts of a layer to come will probably be asked for, the likeliest first. A hint: it changes no
  /// result, and never waits.
  virtual void expect(LayerIndex, std::span<const ExpertIndex>) noexcept {}
};

}  // namespace lazymoe::store
