#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "../core/contract.hpp"
#include "../core/types.hpp"

namespace lazymoe::instrument {

/// What an expert store did. A request is one expert of one acquire; it is counted once, by where its expert was.
struct StoreCounters {
  std::uint64_t hits = 0;               ///< resident since an earlier request
  std::uint64_t pinned_hits = 0;        ///< resident, and never to be evicted
  std::uint64_t prefetched = 0;         ///< resident thanks to a prefetch: its first request
  std::uint64_t prefetched_late = 0;    ///< being read by a prefetch
  std::uint64_t joined = 0;             ///< being read for another request
  std::uint64_t misses = 0;             ///< read for this request
  std::uint64_t prefetched_unused = 0;  ///< no requests: prefetched experts that were evicted before one
  std::uint64_t evictions = 0;          ///< experts that gave up their slot
  std::uint64_t reads = 0;              ///< fetches from storage, by requests and by prefetches
  Bytes bytes_wanted = 0;               ///< of the experts that were requested
  Bytes bytes_read = 0;                 ///< fetched from storage
  std::uint64_t wait_ns = 0;            ///< time requests spent waiting for reads
  std::uint64_t busy_ns = 0;            ///< time during which at least one read was under way

  [[nodiscard]] constexpr std::uint64_t requests() const noexcept {
    return resident() + prefetched_late + joined + misses;
  }
  /// Requests whose expert was there.
  [[nodiscard]] constexpr std::uint64_t resident() const noexcept { return hits + pinned_hits + prefetched; }

  /// Of all requests, those whose expert was there; 0 if there were none.
  [[nodiscard]] constexpr double hit_rate() const noexcept {
    return requests() == 0 ? 0.0 : static_cast<double>(resident()) / static_cast<double>(requests());
  }

  /// Time of reading during which nobody waited. Of one thread of requests: several may wait at once.
  [[nodiscard]] constexpr std::uint64_t overlapped_ns() const noexcept {
    return busy_ns > wait_ns ? busy_ns - wait_ns : 0;
  }

  friend constexpr bool operator==(const StoreCounters&, const StoreCounters&) = default;
};

/// Every counter and its name: for whoever adds, prints or compares them all.
inline constexpr std::array<std::pair<std::string_view, std::uint64_t StoreCounters::*>, 13> counter_fields{{
    {"hits", &StoreCounters::hits},
    {"pinned_hits", &StoreCounters::pinned_hits},
    {"prefetched", &StoreCounters::prefetched},
    {"prefetched_late", &StoreCounters::prefetched_late},
    {"joined", &StoreCounters::joined},
    {"misses", &StoreCounters::misses},
    {"prefetched_unused", &StoreCounters::prefetched_unused},
    {"evictions", &StoreCounters::evictions},
    {"reads", &StoreCounters::reads},
    {"bytes_wanted", &StoreCounters::bytes_wanted},
    {"bytes_read", &StoreCounters::bytes_read},
    {"wait_ns", &StoreCounters::wait_ns},
    {"busy_ns", &StoreCounters::busy_ns},
}};
static_assert(sizeof(StoreCounters) == counter_fields.size() * sizeof(std::uint64_t));

constexpr StoreCounters& operator+=(StoreCounters& sum, const StoreCounters& other) noexcept {
  for (const auto& [name, field] : counter_fields) sum.*field += other.*field;
  return sum;
}

/// What happened since an earlier state of the same counters.
[[nodiscard]] constexpr StoreCounters operator-(StoreCounters now, const StoreCounters& before) noexcept {
  for (const auto& [name, field] : counter_fields) now.*field -= before.*field;
  return now;
}

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
