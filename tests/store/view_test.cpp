#include <lazymoe/store/view.hpp>

#include <type_traits>

#include "support/catch.hpp"

namespace lazymoe::store {

static_assert(std::is_trivially_copyable_v<ExpertView>, "a view is handed around by value");

TEST_CASE("A view of no expert is empty", "[store][view]") {
  const ExpertView view;
  CHECK(view.gate.bytes.empty());
  CHECK(view.up.bytes.empty());
  CHECK(view.down.bytes.empty());
  CHECK(view.down.rows == 0);
}

}  // namespace lazymoe::store
