#include <lazymoe/quant/encode/encoder.hpp>

#include <array>
#include <lazymoe/quant/formats/q3_k.hpp>

#include "support/catch.hpp"

using namespace lazymoe::quant;

static_assert(!EncodableFormat<Q3_K>);

TEST_CASE("the signed maximum keeps its sign, the first of equals", "[quant][encode]") {
  CHECK(detail::signed_max(std::array{1.0F, -3.0F, 3.0F}) == -3.0F);
  CHECK(detail::reciprocal(-4.0F) == -0.25F);
  CHECK(detail::reciprocal(1e-40F) == 0.0F);
}
