#pragma once

#include <cstddef>
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

/// Where models get their experts: the one virtual seam of the library. It is crossed once per layer and group of
/// experts, before milliseconds of arithmetic; below it everything is static.
///
/// @thread all members may be called from many threads; a thread must not call acquire() while it holds leases of the
///         same source, as it would wait for itself when slots are short
class ExpertSource {
 public:
  virtual ~ExpertSource() = default;

  /// Pins the experts until the Leases die and begins to read those that are missing.
  ///
  /// @shape  experts[k], distinct, k <= max_leases(layer) -> Leases of size k, same order
  /// @throws Error{io} when a read fails (here or in Leases::wait): nothing stays pinned, the source stays usable
  /// @thread equal experts of concurrent calls are read once
  [[nodiscard]] virtual Leases acquire(LayerIndex layer, std::span<const ExpertIndex> experts) = 0;

  /// How many experts of a layer can be held at once.
  [[nodiscard]] virtual std::size_t max_leases(LayerIndex layer) const noexcept = 0;

  /// Whether acquire() would find the expert in memory; a hint, as other threads may be at work.
  [[nodiscard]] virtual bool resident(LayerIndex layer, ExpertIndex expert) const = 0;

  /// Tells what a router chose, before the experts are asked for.
  virtual void on_route(const RouteEvent&) {}
};

}  // namespace lazymoe::store
