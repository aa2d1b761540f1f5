#include <lazymoe/moe/activation.hpp>

#include <vector>

#include "support/catch.hpp"

namespace lazymoe::moe {

TEST_CASE("Each activation is the function of its name, in place too", "[moe]") {
  const std::vector<float> gate{-2.0F, 0.5F, 9.0F};
  const std::vector<float> up{1.0F, -8.0F, 3.0F};
  std::vector<float> expected(3);
  const auto check = [&](Activation activation, auto* function) {
    function(gate.data(), up.data(), expected.data(), 3);
    std::vector<float> out = gate;
    activate(activation, out.data(), up.data(), out.data(), 3);
    CHECK(out == expected);
  };
  check(Activation::swiglu, &simd::swiglu);
  check(Activation::clamped_swiglu, &simd::clamped_swiglu);
}

}  // namespace lazymoe::moe
