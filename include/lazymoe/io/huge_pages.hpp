#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "../core/bytes.hpp"

namespace lazymoe::io {

/// Asks for huge pages behind the whole ones of a buffer; what lies before and after them is left alone. Reads into
/// small pages cost the kernel several times the work, see docs/policies.md. A wish: the system may not grant it.
///
/// @memory none beyond the buffer
inline void prefer_huge_pages(std::span<std::byte> buffer) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  const auto begin = align_up(reinterpret_cast<std::uintptr_t>(buffer.data()), huge);
  const auto end = (reinterpret_cast<std::uintptr_t>(buffer.data()) + buffer.size()) / huge * huge;
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  (void)buffer;
#endif
}

/// Returns the whole pages of a buffer to the system; their content is lost, and reading them again gives zeros.
inline void give_back(std::span<std::byte> buffer) noexcept {
  constexpr std::uintptr_t page = 4096;
  const auto begin = align_up(reinterpret_cast<std::uintptr_t>(buffer.data()), page);
  const auto end = (reinterpret_cast<std::uintptr_t>(buffer.data()) + buffer.size()) / page * page;
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace lazymoe::io
