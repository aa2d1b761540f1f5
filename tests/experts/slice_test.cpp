#include <lazymoe/experts/slice.hpp>

#include "support/catch.hpp"

namespace lazymoe::experts {

TEST_CASE("Slices are equal when shard, offset and length are", "[experts]") {
  constexpr SliceRef slice{.shard = 1, .offset = 64, .bytes = 100};
  CHECK(slice == SliceRef{.shard = 1, .offset = 64, .bytes = 100});
  CHECK(slice != SliceRef{.shard = 0, .offset = 64, .bytes = 100});
  CHECK(slice != SliceRef{.shard = 1, .offset = 65, .bytes = 100});
  CHECK(slice != SliceRef{.shard = 1, .offset = 64, .bytes = 99});
}

}  // namespace lazymoe::experts
