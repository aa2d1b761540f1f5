#pragma once

// Replaces operator new by one that counts. For exactly one file of a test program.

#include <cstdlib>
#include <new>

#include "allocations.hpp"

std::atomic<std::uint64_t> lazymoe::test::allocations{0};

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++lazymoe::test::allocations;
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  ++lazymoe::test::allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
