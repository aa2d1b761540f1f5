#pragma once

#include <atomic>
#include <cstdint>

namespace lazymoe::test {

/// How often this program has called operator new, if one of its files includes count_allocations.hpp.
extern std::atomic<std::uint64_t> allocations;

}  // namespace lazymoe::test
