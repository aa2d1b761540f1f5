#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "../../core/types.hpp"
#include "../../instrument/counters.hpp"
#include "../../instrument/stopwatch.hpp"
#include "resident_set.hpp"

namespace lazymoe::store::detail {

/// What a store has done, and what it is reading now. Takes no locks: the store calls it under its own.
class Ledger {
 public:
  explicit Ledger(std::size_t n_layers) : counters_(n_layers) {}

  [[nodiscard]] const instrument::LayeredCounters& counters() const noexcept { return counters_; }
  /// Experts being read for requests, and on guesses.
  [[nodiscard]] std::size_t n_asked() const noexcept { return n_asked_; }
  [[nodiscard]] std::size_t n_guessed() const noexcept { return n_guessed_; }
  /// How often something has become ready.
  [[nodiscard]] std::uint64_t arrivals() const noexcept { return arrivals_; }

  /// A request was granted.
  /// @param is_pinned is_pinned(key): whether the expert is never evicted
  template <class IsPinned>
  void requested(LayerIndex layer, std::span<const Claim> claims, Bytes expert_bytes, IsPinned&& is_pinned) noexcept {
    instrument::StoreCounters counted;
    for (const Claim& claim : claims) {
      switch (claim.kind) {
        case Claim::Kind::hit: ++(is_pinned(claim.key) ? counted.pinned_hits : counted.hits); break;
        case Claim::Kind::prefetched: ++counted.prefetched; break;
        case Claim::Kind::prefetched_late: ++counted.prefetched_late; break;
        case Claim::Kind::joined: ++counted.joined; break;
        case Claim::Kind::miss: ++counted.misses; break;
      }
      add_eviction(counted, claim);
    }
    counted.bytes_wanted = claims.size() * expert_bytes;
    counters_.add(layer, counted);
  }

  /// A slot was taken on a guess.
  void guessed(LayerIndex layer, const Claim& claim) noexcept {
    instrument::StoreCounters counted;
    add_eviction(counted, claim);
    counters_.add(layer, counted);
  }

  /// The reads of an expert begin.
  void begin(bool guessed) noexcept {
    if (n_asked_ + n_guessed_ == 0) reading_since_ = {};
    ++(guessed ? n_guessed_ : n_asked_);
  }

  /// A read is over, with its bytes or with none.
  void read(LayerIndex layer, Bytes bytes) noexcept {
    if (bytes > 0) counters_.add(layer, {.reads = 1, .bytes_read = bytes});
  }

  /// An expert, or as much of it as can be used, has become ready.
  void arrive() noexcept { ++arrivals_; }

  /// The last read of an expert is over.
  void end(LayerIndex layer, bool guessed) noexcept {
    --(guessed ? n_guessed_ : n_asked_);
    if (n_asked_ + n_guessed_ == 0) counters_.add(layer, {.busy_ns = reading_since_.elapsed_ns()});
  }

  void waited(LayerIndex layer, std::uint64_t ns) noexcept { counters_.add(layer, {.wait_ns = ns}); }

 private:
  static void add_eviction(instrument::StoreCounters& counted, const Claim& claim) noexcept {
    if (claim.evicted) ++counted.evictions;
    if (claim.evicted_unused) ++counted.prefetched_unused;
  }

  instrument::LayeredCounters counters_;
  std::uint64_t arrivals_ = 0;
  std::size_t n_asked_ = 0;
  std::size_t n_guessed_ = 0;
  instrument::Stopwatch reading_since_;
};

}  // namespace lazymoe::store::detail
