#include <lazymoe/store/representation.hpp>

#include "representation_laws.hpp"
#include "support/catch.hpp"

namespace lazymoe::store {

TEMPLATE_TEST_CASE("Every representation obeys the laws", "[store][representation]", KeepQuantized, DecodeTo<quant::F32>,
                   DecodeTo<quant::F16>, DecodeTo<quant::BF16>, RequantizeTo<quant::Q8_0>, RequantizeTo<quant::Q4_0>) {
  test::check_representation_laws<TestType>();
}

TEST_CASE("Rows that are no whole blocks of the new format stay as they are", "[store][representation]") {
  using R = RequantizeTo<quant::Q8_0>;
  CHECK(R::target(quant::TypeId::f16, 48) == quant::TypeId::f16);
  const test::NoiseMatrix m(3, 48, quant::TypeId::f16);
  CHECK(std::ranges::equal(test::converted<R>(m.matrix), m.matrix.bytes));
}

}  // namespace lazymoe::store
