#include <lazymoe/gguf/tensor.hpp>

#include "support/catch.hpp"

namespace lazymoe::gguf {

TEST_CASE("A tensor's shape reads as the file lists it", "[gguf]") {
  TensorInfo tensor;
  tensor.dims = {2048, 768, 128, 1};
  tensor.n_dims = 3;
  CHECK(tensor.cols() == 2048);
  CHECK(tensor.rows() == 768);
  CHECK(tensor.slices() == 128);
  CHECK(tensor.elems() == std::uint64_t{2048} * 768 * 128);
  CHECK(tensor.shape_text() == "{2048, 768, 128}");

  tensor.dims = {5, 1, 1, 1};
  tensor.n_dims = 1;
  CHECK(tensor.shape_text() == "{5}");
}

}  // namespace lazymoe::gguf
