#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "../core/contract.hpp"
#include "../core/types.hpp"

namespace lazymoe::moe {

/// The indices of the `out.size()` largest of `n` scores, largest first; of equal scores the lower index comes first.
///
/// @param  score callable: index -> float
/// @shape  out[k], k <= n <= 65536
/// @post   indices are distinct, even among scores that are not numbers
/// @cost   n * k; k is 4 to 10
template <class Score>
void top_k(std::size_t n, Score&& score, std::span<ExpertIndex> out) noexcept {
  LAZYMOE_EXPECTS(out.size() <= n);
  std::size_t found = 0;
  for (ExpertIndex i = 0; i < n; ++i) {
    // Insertion keeps the order: a later equal score stays behind.
    const float own = score(i);
    std::size_t at = found;
    while (at > 0 && own > score(out[at - 1])) --at;
    if (at == out.size()) continue;
    found = std::min(found + 1, out.size());
    const auto place = [&](std::size_t j) { return out.begin() + static_cast<std::ptrdiff_t>(j); };
    std::copy_backward(place(at), place(found - 1), place(found));
    out[at] = i;
  }
}

/// The same of scores that lie in memory.
inline void top_k(std::span<const float> scores, std::span<ExpertIndex> out) noexcept {
  top_k(scores.size(), [&](std::size_t i) { return scores[i]; }, out);
}

}  // namespace lazymoe::moe
