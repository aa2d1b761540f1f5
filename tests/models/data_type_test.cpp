#include <lazymoe/models/weights.hpp>

#include <lazymoe/gguf/writer.hpp>

#include <vector>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

namespace lazymoe::models {

TEST_CASE("A matrix of data is refused by name, a vector of data is read", "[models]") {
  const test::TempDir directory;
  gguf::Writer writer;
  writer.set("general.architecture", "some");
  writer.add_tensor("table.weight", {4, 2}, quant::TypeId::i16, std::vector<std::byte>(16));
  writer.add_tensor("list", {3}, quant::TypeId::f64, std::vector<std::byte>(24));
  writer.add_tensor("blk.0.ffn_down_exps.weight", {4, 2, 2}, quant::TypeId::i8, std::vector<std::byte>(16));
  writer.write(directory.path() / "m.gguf");
  const gguf::File file(directory.path() / "m.gguf");

  WeightBinder binder(file);
  quant::PackedMatrix matrix;
  try {
    binder.matrix(matrix, "table.weight", 2, 4);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::unsupported_type);
    CHECK_THAT(error.what(), Catch::Contains("tensor table.weight is of type I16"));
  }
  CHECK_THROWS_WITH(binder.experts("blk.0.", 2, 4, 2), Catch::Contains("blk.0.ffn_down_exps.weight is of type I8"));

  std::vector<float> list;
  binder.vector(list, "list", 3);
  (void)binder.load(WeightStorage::read, {});
  CHECK(list == std::vector<float>(3));
}

}  // namespace lazymoe::models
