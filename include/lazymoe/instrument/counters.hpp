#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"

namespace lazymoe::instrument {

/// What an expert store did. A request is one expert of one acquire: a hit, a miss, or joined.
struct StoreCounters {
  std::uint64_t hits = 0;       ///< requests whose expert was resident
  std::uint64_t misses = 0;     ///< requests that began to read their expert
  std::uint64_t joined = 0;     ///< requests that found their expert already being read
  std::uint64_t evictions = 0;  ///< experts that gave up their slot
  std::uint64_t reads = 0;      ///< fetches from storage, by requests and by prefetches
  Bytes bytes_read = 0;         ///< fetched from storage
  std::uint64_t wait_ns = 0;    ///< time requests spent waiting for reads

  [[nodiscard]] constexpr std::uint64_t requests() const noexcept { return hits + misses + joined; }

  /// Hits per request, 0 if there were none.
  [[nodiscard]] constexpr double hit_rate() const noexcept {
    return requests() == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(requests());
  }

  constexpr StoreCounters& operator+=(const StoreCounters& other) noexcept {
    hits += other.hits;
    misses += other.misses;
    joined += other.joined;
    evictions += other.evictions;
    reads += other.reads;
    bytes_read += other.bytes_read;
    wait_ns += other.wait_ns;
    return *this;
  }

  friend constexpr bool operator==(const StoreCounters&, const StoreCounters&) = default;
};

/// The counters of every layer beside their sum.
struct LayeredCounters {
  StoreCounters total = {};
  std::vector<StoreCounters> layers = {};  ///< by LayerIndex

  LayeredCounters() = default;
  explicit LayeredCounters(std::size_t n_layers) : layers(n_layers) {}

  /// Adds to one layer and to the total.
  /// @pre layer < layers.size()
  void add(LayerIndex layer, const StoreCounters& counted) noexcept {
    LAZYMOE_EXPECTS(layer < layers.size());
    layers[layer] += counted;
    total += counted;
  }

  friend bool operator==(const LayeredCounters&, const LayeredCounters&) = default;
};

}  // namespace lazymoe::instrument
