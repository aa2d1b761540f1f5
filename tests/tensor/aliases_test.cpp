#include <lazymoe/tensor/aliases.hpp>

#include "support/catch.hpp"

namespace lazymoe::tensor {

TEST_CASE("Rows are contiguous, also of a part of a matrix", "[tensor]") {
  Matrix m(4, 3);
  for (int i = 0; i < 12; ++i) m.data()[i] = static_cast<float>(i);
  Rows two = first_rows(m, 2);
  CHECK(row_count(two) == 2);
  CHECK(width(two) == 3);
  row(two, 1)[2] = 50.0F;
  CHECK(m(1, 2) == 50.0F);

  const ConstRows part = m.block(1, 1, 3, 2);
  CHECK(row(part, 2).size() == 2);
  CHECK(row(part, 2)[0] == 10.0F);
  CHECK(row(part, 2).data() == m.data() + 10);  // borrowed, not copied
}

}  // namespace lazymoe::tensor
