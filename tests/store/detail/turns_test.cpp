#include <lazymoe/store/detail/turns.hpp>

#include "support/catch.hpp"

namespace lazymoe::store::detail {

TEST_CASE("Turns come in the order they were taken", "[store][turns]") {
  Turns turns;
  const auto first = turns.take();
  const auto second = turns.take();
  const auto third = turns.take();
  CHECK(turns.is(first));
  CHECK_FALSE(turns.is(second));
  CHECK(turns.end());  // somebody waits for the next
  CHECK(turns.is(second));
  CHECK(turns.end());
  CHECK(turns.is(third));
  CHECK_FALSE(turns.end());
  CHECK(turns.is(turns.take()));
}

}  // namespace lazymoe::store::detail
