#pragma once

#include "../cache/eviction.hpp"
#include "../cache/layer_aware.hpp"
#include "../cache/lfu_aged.hpp"
#include "../storage/pread.hpp"
#include "../storage/storage.hpp"
#include "prefetch.hpp"
#include "representation.hpp"

namespace lazymoe::store {

/// The choices an ExpertStore is built from.
// clang-format off
template <class P>
concept StorePolicies = storage::StoragePolicy<typename P::Storage> && cache::EvictionPolicy<typename P::Eviction> &&
                        RepresentationPolicy<typename P::Representation> && PrefetchPolicy<typename P::Prefetch>;
// clang-format on

/// One line per choice. Inherit and override the line under study:
///     struct Lab : DefaultPolicies { using Eviction = cache::Lru; };
struct DefaultPolicies {
  using Storage = storage::Pread;
  using Eviction = cache::LayerAware<cache::LfuAged>;  // near the best on every trace of docs/policies.md
  using Representation = KeepQuantized;
  using Prefetch = NoPrefetch;
};

}  // namespace lazymoe::store
