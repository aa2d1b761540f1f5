#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "../lease.hpp"
#include "../view.hpp"
#include "expert_reader.hpp"
#include "expert_reads.hpp"

namespace lazymoe::store::detail {

/// What a read that is over has made usable.
enum class Arrival : std::uint8_t { nothing, gate_up, whole };

/// What has arrived in each slot so far. Takes no locks: the store calls it under its own.
class SlotContents {
 public:
  explicit SlotContents(std::size_t n_slots) : slots_(n_slots) {}

  /// The reads of an expert are to come.
  /// @param guessed whether for a prefetch
  void begin(SlotIndex slot, const ExpertReads& reads, bool guessed) noexcept {
    const auto n = static_cast<std::uint32_t>(reads.size());
    at(slot) = {.view = {}, .failure = nullptr, .n_left = n, .n_inner_left = n - 1, .guessed = guessed};
  }

  /// Read `i` is over, well or with a failure.
  Arrival arrive(SlotIndex slot, const ExpertReads& reads, std::size_t i, const PartView& part,
              std::exception_ptr failure) noexcept {
    Content& content = at(slot);
    if (failure == nullptr) {
      part.put_into(content.view);
    } else if (content.failure == nullptr) {
      content.failure = std::move(failure);
    }
    const bool had_inner = ready(slot, Extent::gate_up);
    if (!reads.is_down(i)) --content.n_inner_left;
    if (--content.n_left == 0) return Arrival::whole;
    return ready(slot, Extent::gate_up) == had_inner ? Arrival::nothing : Arrival::gate_up;
  }

  /// Whether view() has something to say. A failure is told when nothing is written into the slot any more.
  [[nodiscard]] bool ready(SlotIndex slot, Extent extent) const noexcept {
    const Content& content = at(slot);
    return content.n_left == 0 ||
           (extent == Extent::gate_up && content.n_inner_left == 0 && content.failure == nullptr);
  }

  /// @pre    ready(slot, extent)
  /// @throws Error{io} if a read failed
  [[nodiscard]] ExpertView view(SlotIndex slot) const {
    const Content& content = at(slot);
    if (content.failure != nullptr) std::rethrow_exception(content.failure);
    return content.view;
  }

  [[nodiscard]] bool failed(SlotIndex slot) const noexcept { return at(slot).failure != nullptr; }
  [[nodiscard]] bool guessed(SlotIndex slot) const noexcept { return at(slot).guessed; }

 private:
  struct Content {
    ExpertView view = {};
    std::exception_ptr failure = nullptr;
    std::uint32_t n_left = 0;        ///< reads under way
    std::uint32_t n_inner_left = 0;  ///< of them, those of gate and up
    bool guessed = false;
  };

  [[nodiscard]] Content& at(SlotIndex slot) noexcept { return slots_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] const Content& at(SlotIndex slot) const noexcept { return slots_[static_cast<std::size_t>(slot)]; }

  std::vector<Content> slots_;
};

}  // namespace lazymoe::store::detail
