#pragma once

#include <cstdint>

#include "../core/types.hpp"

namespace lazymoe::experts {

/// A range of bytes in one file of the model: the unit storage reads.
struct SliceRef {
  std::uint32_t shard = 0;  ///< index of the file
  Bytes offset = 0;         ///< from the start of that file
  Bytes bytes = 0;

  friend constexpr bool operator==(const SliceRef&, const SliceRef&) = default;
};

}  // namespace lazymoe::experts
