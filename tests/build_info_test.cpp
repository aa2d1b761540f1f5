#include <lazymoe/build_info.hpp>

#include "support/catch.hpp"

namespace lazymoe {

TEST_CASE("build_info names the version, the instruction set, the compiler and the dependencies", "[build_info]") {
  const BuildInfo info = build_info();
  CHECK(info.version == std::to_string(LAZYMOE_VERSION_MAJOR) + "." + std::to_string(LAZYMOE_VERSION_MINOR) + "." +
                            std::to_string(LAZYMOE_VERSION_PATCH));
  CHECK_FALSE(info.instruction_set.empty());
  CHECK_FALSE(info.compiler.empty());
  for (const auto* const name : {"Eigen 3.", "xsimd ", "Boost 1."}) CHECK(info.dependencies.find(name) != std::string::npos);
}

}  // namespace lazymoe
