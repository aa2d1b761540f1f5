#include <lazymoe/gguf/type_names.hpp>

#include "support/catch.hpp"

namespace lazymoe::gguf {
namespace {

using Catch::Matchers::Contains;
using quant::TypeId;

}  // namespace

TEST_CASE("The name table and the registry agree on what both know", "[gguf]") {
  for (std::uint32_t i = 0; i < quant::layouts.size(); ++i) {
    if (!quant::is_supported(TypeId{i})) continue;
    CHECK(describe_type(TypeId{i}) == quant::layouts[i].name);
    CHECK(type_names[i].instead.empty());
    CHECK(&layout_of(TypeId{i}, "t") == &quant::layouts[i]);
  }
}

TEST_CASE("Every number that was given out is read, or was removed in favour of another type", "[gguf]") {
  for (std::uint32_t i = 0; i < type_names.size(); ++i) {
    CAPTURE(type_names[i].name);
    CHECK(quant::is_supported(TypeId{i}) == type_names[i].instead.empty());
  }
}

TEST_CASE("A type that cannot be read is named, with advice where there is any", "[gguf]") {
  CHECK(describe_type(TypeId{41}) == "Q1_0");
  CHECK(describe_type(TypeId{43}) == "43");
  CHECK_THROWS_WITH(layout_of(TypeId{31}, "f: tensor 't'"),
                    "f: tensor 't': type 31 (Q4_0_4_4) was removed from the format; requantize to Q4_0");
  for (const std::uint32_t removed : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U}) {
    CHECK_THROWS_WITH(layout_of(TypeId{removed}, "t"), Contains("was removed from the format"));
  }
  for (const std::uint32_t unknown : {43U, 63U, 64U, 0x80000000U, ~0U}) {
    CHECK_THROWS_WITH(layout_of(TypeId{unknown}, "t"), Contains("type " + std::to_string(unknown) + " is unknown"));
  }
}

}  // namespace lazymoe::gguf
