#pragma once

#include <cstddef>

#include "checksums.hpp"
#include "slot_plan.hpp"

namespace lazymoe::store {

struct StoreOptions {
  ExpertBudget budget = {};        ///< what may be resident; everything by default
  unsigned io_threads = 4;         ///< reads under way at once, where the storage has no queue of its own
  std::size_t prefetches = 1;      ///< experts that may be read on a guess at once
  Checksums* checksums = nullptr;  ///< what reads are compared with, or null: with nothing. Outlives the store
};

}  // namespace lazymoe::store
