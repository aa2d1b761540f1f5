#include <cstddef>
#include <cstdint>
#include <lazymoe/quant/registry.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace lazymoe;
using namespace lazymoe::quant;

static_assert(type_name(TypeId::q4_K) == "Q4_K" && layout(TypeId::q6_K).block_bytes == 210);
static_assert(row_bytes(TypeId::q4_K, 2048) == 1152 && row_bytes(TypeId::f32, 3) == 12);
static_assert(is_supported(TypeId::mxfp4) && !is_supported(TypeId::q8_K) && !is_supported(TypeId{0xFFFFFFFF}));

namespace {

struct Rigid {
  explicit Rigid(std::size_t n) : elems(n) {}
  Rigid(const Rigid&) = delete;
  Rigid& operator=(const Rigid&) = delete;
  std::size_t elems;
};

}  // namespace

TEST_CASE("layouts have the sizes of the wire format", "[quant][registry]") {
  struct Row {
    TypeId id;
    std::string name;
    std::uint32_t elems;
    std::uint32_t bytes;
  };
  const auto row = GENERATE(values<Row>({{TypeId{0}, "F32", 1, 4},
                                         {TypeId{1}, "F16", 1, 2},
                                         {TypeId{2}, "Q4_0", 32, 18},
                                         {TypeId{3}, "Q4_1", 32, 20},
                                         {TypeId{6}, "Q5_0", 32, 22},
                                         {TypeId{7}, "Q5_1", 32, 24},
                                         {TypeId{8}, "Q8_0", 32, 34},
                                         {TypeId{10}, "Q2_K", 256, 84},
                                         {TypeId{11}, "Q3_K", 256, 110},
                                         {TypeId{12}, "Q4_K", 256, 144},
                                         {TypeId{13}, "Q5_K", 256, 176},
                                         {TypeId{14}, "Q6_K", 256, 210},
                                         {TypeId{20}, "IQ4_NL", 32, 18},
                                         {TypeId{23}, "IQ4_XS", 256, 136},
                                         {TypeId{30}, "BF16", 1, 2},
                                         {TypeId{39}, "MXFP4", 32, 17}}));
  CHECK(type_name(row.id) == row.name);
  CHECK(layout(row.id).block_elems == row.elems);
  CHECK(layout(row.id).block_bytes == row.bytes);
}

TEST_CASE("visit_format hands over the format with the number", "[quant][registry]") {
  for (std::uint32_t number = 0; number < layouts.size(); ++number) {
    if (!is_supported(TypeId{number})) continue;
    CHECK(visit_format(TypeId{number}, [](auto format) { return decltype(format)::type::id; }) == TypeId{number});
  }
}

TEST_CASE("visit_format returns nothing, or what cannot be moved", "[quant][registry]") {
  std::size_t elems = 0;
  visit_format(TypeId::q8_0, [&elems](auto format) { elems = decltype(format)::type::block_elems; });
  CHECK(elems == 32);

  const auto rigid = visit_format(TypeId::q4_K, [](auto format) { return Rigid(decltype(format)::type::block_elems); });
  CHECK(rigid.elems == 256);
}

TEST_CASE("a number outside the registry is refused with its number", "[quant][registry]") {
  const auto number = GENERATE(4U, 5U, 9U, 15U, 16U, 43U, 63U, 64U, 0xFFFFFFFFU);
  const auto nothing = [](auto) {};
  CHECK_THROWS_WITH(visit_format(TypeId{number}, nothing), Catch::Contains(std::to_string(number)));
  CHECK_THROWS_AS(layout(TypeId{number}), Error);
  try {
    (void)type_name(TypeId{number});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::unsupported_type);
  }
}
