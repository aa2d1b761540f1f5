#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "ledger.hpp"
#include "resident_set.hpp"
#include "wish_list.hpp"

namespace lazymoe::store::detail {

/// Takes slots for wishes as long as no request waits for the storage and fewer than `most` guesses are being read;
/// calls begin(claim) for each. As many as there is memory to list.
template <cache::EvictionPolicy Eviction, class Begin>
[[nodiscard]] std::vector<Claim> claim_wishes(WishList& wishes, ResidentSet<Eviction>& resident, Ledger& ledger,
                                              std::size_t most, Begin&& begin) noexcept {
  std::vector<Claim> claims;
  try {
    while (ledger.n_asked() == 0 && ledger.n_guessed() < most) {
      claims.reserve(claims.size() + 1);  // what may throw comes before the pin
      const auto wish = wishes.next();
      if (!wish) break;
      const auto claim = resident.claim_prefetch(wish->layer, wish->expert, wish->layers_ahead);
      if (!claim) continue;
      claims.push_back(*claim);
      ledger.guessed(wish->layer, *claim);
      begin(*claim);
    }
  } catch (const std::bad_alloc&) {  // they were guesses
  }
  return claims;
}

}  // namespace lazymoe::store::detail
