#include <lazymoe/quant/format.hpp>
#include <lazymoe/quant/registry.hpp>

#include "quant/format_laws.hpp"
#include "support/catch.hpp"
#include "support/type_list.hpp"

using namespace lazymoe;

TEMPLATE_LIST_TEST_CASE("every format obeys the laws of a block format", "[quant][format]",
                        test::TypeList<quant::formats>) {
  test::check_format_laws<TestType>();
}
