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
static_assert(is_supported(TypeId::mxfp4) && is_supported(TypeId::i32) && !is_supported(TypeId{0xFFFFFFFF}));
static_assert(is_weight(TypeId::mxfp4) && !is_weight(TypeId::i32) && !is_weight(TypeId{4}));

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
                                         {TypeId{9}, "Q8_1", 32, 36},
                                         {TypeId{10}, "Q2_K", 256, 84},
                                         {TypeId{11}, "Q3_K", 256, 110},
                                         {TypeId{12}, "Q4_K", 256, 144},
                                         {TypeId{13}, "Q5_K", 256, 176},
                                         {TypeId{14}, "Q6_K", 256, 210},
                                         {TypeId{15}, "Q8_K", 256, 292},
                                         {TypeId{16}, "IQ2_XXS", 256, 66},
                                         {TypeId{17}, "IQ2_XS", 256, 74},
                                         {TypeId{18}, "IQ3_XXS", 256, 98},
                                         {TypeId{19}, "IQ1_S", 256, 50},
                                         {TypeId{20}, "IQ4_NL", 32, 18},
                                         {TypeId{21}, "IQ3_S", 256, 110},
                                         {TypeId{22}, "IQ2_S", 256, 82},
                                         {TypeId{23}, "IQ4_XS", 256, 136},
                                         {TypeId{24}, "I8", 1, 1},
                                         {TypeId{25}, "I16", 1, 2},
                                         {TypeId{26}, "I32", 1, 4},
                                         {TypeId{27}, "I64", 1, 8},
                                         {TypeId{28}, "F64", 1, 8},
                                         {TypeId{29}, "IQ1_M", 256, 56},
                                         {TypeId{30}, "BF16", 1, 2},
                                         {TypeId{34}, "TQ1_0", 256, 54},
                                         {TypeId{35}, "TQ2_0", 256, 66},
                                         {TypeId{39}, "MXFP4", 32, 17},
                                         {TypeId{40}, "NVFP4", 64, 36},
                                         {TypeId{41}, "Q1_0", 128, 18},
                                         {TypeId{42}, "Q2_0", 64, 18}}));
  CHECK(type_name(row.id) == row.name);
  CHECK(layout(row.id).block_elems == row.elems);
  CHECK(layout(row.id).block_bytes == row.bytes);
}

TEST_CASE("visit_format hands over the format with the number", "[quant][registry]") {
  for (std::uint32_t number = 0; number < layouts.size(); ++number) {
    if (!is_supported(TypeId{number})) continue;
    CHECK(visit_format<readable_formats>(TypeId{number}, [](auto format) { return decltype(format)::type::id; }) ==
          TypeId{number});
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
  const auto number = GENERATE(4U, 5U, 31U, 43U, 63U, 64U, 0xFFFFFFFFU);
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

TEST_CASE("a type of data is no type of weights", "[quant][registry]") {
  const auto type = GENERATE(TypeId::i8, TypeId::i16, TypeId::i32, TypeId::i64, TypeId::f64, TypeId::q8_1, TypeId::q8_K);
  CHECK(is_supported(type));
  CHECK_FALSE(is_weight(type));
  CHECK_THROWS_WITH(visit_format(type, [](auto) {}), Catch::Contains(std::string(type_name(type))));
}
