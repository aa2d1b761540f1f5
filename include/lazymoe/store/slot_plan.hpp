#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../core/bytes.hpp"
#include "../core/error.hpp"
#include "../core/types.hpp"
#include "../core/units.hpp"
#include "../experts/expert_map.hpp"

namespace lazymoe::store {

/// How much may be resident: bytes, or a number of experts of any size.
struct ExpertBudget {
  enum class Unit { bytes, experts };
  Unit unit = Unit::bytes;
  std::uint64_t amount = ~std::uint64_t{0};  ///< everything

  ExpertBudget() = default;
  constexpr ExpertBudget(Bytes bytes) : amount(bytes) {}  // NOLINT: {.budget = 6_GiB} should read so
  [[nodiscard]] static constexpr ExpertBudget experts(std::uint64_t n) {
    ExpertBudget budget(n);
    budget.unit = Unit::experts;
    return budget;
  }

  /// "6GiB", "1.5 GB", "300000" (bytes), "24experts" or "24 experts".
  /// @throws Error{bad_argument}
  [[nodiscard]] static ExpertBudget parse(std::string_view text) {
    constexpr std::string_view suffix = "experts";
    if (!text.ends_with(suffix)) return {parse_bytes(text)};
    std::string_view digits = text.substr(0, text.size() - suffix.size());
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    std::uint64_t n = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (end != digits.data() + digits.size() || failure == std::errc::invalid_argument) {
      throw Error(Errc::bad_argument, "'" + std::string(text) + "' is not a number of experts such as 24experts");
    }
    if (failure != std::errc{}) {
      throw Error(Errc::bad_argument, "'" + std::string(text) + "' is out of range: the most is " +
                                          std::to_string(~std::uint64_t{0}) + "experts");
    }
    return experts(n);
  }
};

/// Slots of one size. Experts of a layer are equal in size, layers differ (a Q6_K down beside a Q4_K one), and a slot
/// priced at the widest would waste what the budget is for.
struct SlotClass {
  Bytes slot_bytes = 0;
  std::size_t n_layers = 0;  ///< that use it
  std::size_t n_slots = 0;
};

/// How a budget is cut into slots.
///
/// @memory total_bytes() never exceeds a budget in bytes
class SlotPlan {
 public:
  /// Bytes of the slot of one expert of a layer.
  using SlotBytes = std::function<Bytes(const experts::LayerExperts&)>;

  /// @param  padding what the storage needs beyond each matrix that it reads: storage::padding()
  /// @throws Error{over_budget} with the arithmetic when the budget is below the floor: one layer's chosen experts in
  ///         slots of each size
  SlotPlan(const experts::ExpertMap& map, ExpertBudget budget, Bytes padding = 0)
      : SlotPlan(map, budget, [padding](const experts::LayerExperts& layer) { return slot_bytes_of(layer, padding); }) {}

  SlotPlan(const experts::ExpertMap& map, ExpertBudget budget, const SlotBytes& slot_bytes) {
    const KeySpace space = map.space();
    for (LayerIndex layer = 0; layer < space.layers; ++layer) {
      class_of_layer_.push_back(map.has_experts(layer) ? class_for(slot_bytes(map.layer(layer))) : none);
    }
    for (SlotClass& c : classes_) c.n_slots = map.n_used();
    const auto used = [&] { return budget.unit == ExpertBudget::Unit::bytes ? total_bytes() : n_slots(); };
    if (used() > budget.amount) refuse(budget, map.n_used(), used());

    // Grow the class that holds the smallest share of its experts, until nothing fits any more.
    for (;;) {
      SlotClass* poorest = nullptr;
      const Bytes left = budget.amount - used();
      for (SlotClass& c : classes_) {
        const bool fits = (budget.unit == ExpertBudget::Unit::bytes ? c.slot_bytes : 1) <= left;
        if (!fits || c.n_slots == space.experts * c.n_layers) continue;
        if (poorest == nullptr || c.n_slots * poorest->n_layers < poorest->n_slots * c.n_layers) poorest = &c;
      }
      if (poorest == nullptr) break;
      ++poorest->n_slots;
    }
  }

  [[nodiscard]] const std::vector<SlotClass>& classes() const noexcept { return classes_; }

  /// Index into classes().
  /// @pre the layer has experts
  [[nodiscard]] std::size_t class_of(LayerIndex layer) const noexcept { return class_of_layer_[layer]; }

  [[nodiscard]] Bytes total_bytes() const noexcept {
    Bytes total = 0;
    for (const SlotClass& c : classes_) total += c.slot_bytes * c.n_slots;
    return total;
  }
  [[nodiscard]] std::size_t n_slots() const noexcept {
    std::size_t total = 0;
    for (const SlotClass& c : classes_) total += c.n_slots;
    return total;
  }

  /// Bytes of the slot of one expert: room for each of its three matrices to begin on a cache line.
  [[nodiscard]] static Bytes slot_bytes_of(const experts::LayerExperts& layer, Bytes padding = 0) noexcept {
    Bytes total = 0;
    for (const auto* part : {&layer.gate, &layer.up, &layer.down}) {
      total += align_up(part->bytes() + padding, slot_alignment);
    }
    return total;
  }
  static constexpr Bytes slot_alignment = 64;

  /// The smallest budget that the constructor accepts: every class holds one layer's chosen experts.
  [[nodiscard]] static Bytes floor_bytes(const experts::ExpertMap& map, Bytes padding = 0) {
    return floor_bytes(map, [padding](const experts::LayerExperts& layer) { return slot_bytes_of(layer, padding); });
  }
  [[nodiscard]] static Bytes floor_bytes(const experts::ExpertMap& map, const SlotBytes& slot_bytes) {
    const SlotPlan plan(map, ExpertBudget{}, slot_bytes);
    Bytes total = 0;
    for (const SlotClass& c : plan.classes_) total += c.slot_bytes * map.n_used();
    return total;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  [[nodiscard]] std::size_t class_for(Bytes slot_bytes) {
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (classes_[i].slot_bytes == slot_bytes) return ++classes_[i].n_layers, i;
    }
    classes_.push_back({.slot_bytes = slot_bytes, .n_layers = 1});
    return classes_.size() - 1;
  }

  [[noreturn]] void refuse(ExpertBudget budget, std::uint32_t n_used, std::uint64_t needed) const {
    const bool in_bytes = budget.unit == ExpertBudget::Unit::bytes;
    std::string arithmetic = "one layer uses " + std::to_string(n_used) + " experts";
    if (in_bytes) {
      std::string sizes;
      for (const SlotClass& c : classes_) sizes += (sizes.empty() ? "" : " + ") + std::to_string(c.slot_bytes);
      arithmetic += " of " + (classes_.size() > 1 ? "(" + sizes + ")" : sizes) + " bytes";
    } else if (classes_.size() > 1) {
      arithmetic += " of each of " + std::to_string(classes_.size()) + " sizes";
    }
    const std::string unit = in_bytes ? " bytes" : " experts";
    throw Error(Errc::over_budget, "the expert budget of " + std::to_string(budget.amount) + unit +
                                       " is below the smallest that works, " + std::to_string(needed) + unit +
                                       (in_bytes ? " (" + format_bytes(needed) + ")" : "") + ": " + arithmetic +
                                       " at once");
  }

  std::vector<SlotClass> classes_;
  std::vector<std::size_t> class_of_layer_;
};

}  // namespace lazymoe::store
