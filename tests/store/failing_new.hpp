#pragma once

// Replaces operator new by one that can be told to fail. For exactly one file of a test program.

#include <cstdlib>
#include <new>

namespace lazymoe::test {

/// How many more allocations of this thread succeed before one fails; negative: all do.
inline thread_local int allocations_left = -1;

}  // namespace lazymoe::test

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  int& left = lazymoe::test::allocations_left;
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
